# What runs before a script: it reads the script from descriptor FD, offers hermes_tools and calls the agent through the same
# descriptor. It imports no module that costs time: start-up is most of what a short script takes.
#
# The first job comes as a block: its length in 4 bytes, then fields that a NUL parts. All else are lines of JSON.
# In: {"run": {...}} for the next job of a kernel, and {"id": n, "result": ...} or {"id": n, "error": "..."}.
# Out: {"id": n, "tool": "...", "args": {...}}, and {"done": code} after each run of a kernel.
import sys
import posix
import _signal
from _thread import allocate_lock, get_ident

FD = 3
MOST = 16 << 20  # bytes of a call
posix.set_inheritable(FD, False)
# What whoever started the agent left open is nothing for scripts. From 3.10 on this is one system call.
posix.closerange(FD + 1, 1 << 20 if sys.version_info >= (3, 10) else 4096)


def _codec():
    """Returns dumps and loads. Those of the json package cost its import, so its C parts are used directly where they are."""
    def default(o):
        if hasattr(o, "__fspath__"):
            return o.__fspath__()
        if isinstance(o, (set, frozenset)):
            return list(o)
        if isinstance(o, (bytes, bytearray)):
            return bytes(o).decode("utf-8", "replace")
        raise TypeError(f"a tool cannot be given a {type(o).__name__}: {o!r:.80}")
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner

        class context:
            strict = False
            object_hook = object_pairs_hook = None
            parse_float = float
            parse_int = int
            parse_constant = float
            memo = {}
        scan = make_scanner(context)

        def dumps(o):
            return "".join(make_encoder({}, default, encode_basestring_ascii, None, ":", ",", False, False, True)(o, 0))
        loads = lambda s: scan(s, 0)[0]
        if loads(dumps({"a": [1, 2.5, None, True, "\u00e9"]})) != {"a": [1, 2.5, None, True, "\u00e9"]}:
            raise ImportError
        return dumps, loads
    except Exception:
        import json
        return (lambda o: json.dumps(o, default=default)), (lambda s: json.loads(s, strict=False))


def _dumps(o):
    global _dumps, _loads
    _dumps, _loads = _codec()
    return _dumps(o)


def _loads(s):
    global _dumps, _loads
    _dumps, _loads = _codec()
    return _loads(s)


def _first():
    """Reads the first job. Most scripts need no JSON before their first call, if they make one."""
    def read(n):
        parts = []
        while n:
            part = posix.read(FD, n)
            if not part:
                posix._exit(125)
            parts.append(part)
            n -= len(part)
        return b"".join(parts)
    flags, file, mark, code, stub, *path = read(int.from_bytes(read(4), "big")).decode().split("\0")
    return {"kernel": "k" in flags, "init": "i" in flags, "file": file, "mark": mark, "code": code, "stub": stub, "path": path}


# Words of scripts that look at sys.path without a failing import: they get site-packages from the start.
_SITE = ("metadata", "pkgutil", "pkg_resources", "sys.path", "find_spec", "import site", "site.")


class _Channel:
    """The line to the agent. Any number of threads may wait for replies: one of them reads, and hands out what is not its own."""

    def __init__(self):
        self.sending = allocate_lock()
        self.reading = allocate_lock()
        self.guard = allocate_lock()
        self.waiting = {}  # id -> [lock to wake its thread, reply or None]
        self.last = 0
        self.rest = b""
        self.closed = None
        self.main = get_ident()
        self.held = self.struck = False  # an interrupt waits while the main thread holds half a frame
        self.idle = False  # between two scripts of a kernel there is nothing to interrupt

    def forked(self):
        self.closed = "tools cannot be called from a forked process: call them from the script itself, or use threads"
        try:
            posix.close(FD)
        except OSError:
            pass

    def interrupt(self, number, frame):
        if self.held or self.idle:
            self.struck = True
        else:
            raise KeyboardInterrupt

    def whole(self, act, *args):
        """Sends or receives one frame. An interrupt comes after it, or the line would be out of step."""
        if get_ident() != self.main:
            return act(*args)
        self.held = True
        try:
            return act(*args)
        finally:
            self.held = False
            if self.struck and not self.idle:
                self.struck = False
                raise KeyboardInterrupt

    def send(self, frame):
        data = memoryview((_dumps(frame) + "\n").encode())
        with self.sending:
            while data:
                data = data[posix.write(FD, data):]

    def receive(self):
        """Returns the next frame. Only one thread at a time calls it."""
        parts = []
        chunk = self.rest
        while True:
            end = chunk.find(b"\n")
            if end >= 0:
                parts.append(chunk[:end])
                self.rest = chunk[end + 1:]
                return _loads(b"".join(parts).decode())
            if chunk:
                parts.append(chunk)
            self.rest = b""
            chunk = posix.read(FD, 65536)
            if not chunk:
                self.closed = "the agent has ended this script"
                raise RuntimeError(self.closed)

    def call(self, tool, args):
        if self.closed:
            raise RuntimeError(self.closed)
        for name, value in args.items():
            if isinstance(value, str) and len(value) > MOST:
                return {"error": f"{name} of {tool} has more than {MOST >> 20} MB: give it less"}
        with self.guard:
            self.last += 1
            me = self.last
        reply = self.wait(me, lambda: self.whole(self.send, {"id": me, "tool": tool, "args": args}))
        if "error" in reply:
            return {"error": reply["error"]}
        return reply["result"]

    def job(self, code):
        """Says how a kernel's job ended and returns the next one, which comes like a reply: a thread that a script left in a call may be
        the one who reads it."""
        return self.wait(0, lambda: self.send({"done": code}))["run"]

    def wait(self, me, begin):
        """Returns the frame with this id."""
        wake = allocate_lock()
        wake.acquire()
        slot = [wake, None]
        with self.guard:
            self.waiting[me] = slot
        try:
            begin()
            while slot[1] is None:
                if not self.reading.acquire(False):
                    wake.acquire()  # by a reply, or because the reader has gone and somebody has to read
                    continue
                try:
                    while slot[1] is None:
                        self.whole(self.next)
                finally:
                    self.reading.release()
        finally:
            with self.guard:
                del self.waiting[me]
                for other in self.waiting.values():
                    if other[1] is None and other[0].locked():
                        other[0].release()
                        break
        return slot[1]

    def next(self):
        frame = self.receive()
        with self.guard:
            slot = self.waiting.get(frame.get("id", 0))
            if slot is None:
                return
            slot[1] = frame
            if slot[0].locked():
                slot[0].release()


_channel = _Channel()


def _call(tool, args, defaults):
    return _channel.call(tool, {k: v for k, v in args.items() if v is not None and (k not in defaults or defaults[k] != v)})


class _Front:
    """Makes hermes_tools of the text that came with the script, and gets site-packages ready where their absence would be seen."""

    def __init__(self):
        self.stub = ""
        self.ready = False
        self.extra = ()

    def find_spec(self, name, path=None, target=None):
        if name != "hermes_tools":
            return None
        from _frozen_importlib import ModuleSpec
        return ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module._call = _call
        exec(compile(self.stub, "hermes_tools.py", "exec", dont_inherit=True), module.__dict__)

    def site(self):
        if not self.ready:
            self.ready = True
            import site
            site.main()
            sys.path.extend(p for p in self.extra if p and p not in sys.path)


_front = _Front()


class _Last:
    """Runs the site module when an import fails without it: most scripts need none of it, and it costs a third of the start."""

    def find_spec(self, name, path=None, target=None):
        if path is not None or _front.ready:
            return None
        _front.site()
        return sys.modules["_frozen_importlib_external"].PathFinder.find_spec(name, path, target)


sys.meta_path.insert(0, _front)
sys.meta_path.append(_Last())


class _Loader:
    """Shows tracebacks and inspect the text of the script."""

    def __init__(self):
        self.text = ""

    def get_source(self, name):
        return self.text


def _exit(code=None):
    raise SystemExit(code)


def _report(e):
    """Prints the traceback of the script, without the frames of this file."""
    import traceback
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename == "<hermes>":
        tb = tb.tb_next
    traceback.print_exception(type(e), e, tb)


def _run(job, space):
    """Runs a script in a namespace and returns its exit code. Whatever it does, what it printed is out when this returns."""
    if _front.stub != job["stub"]:
        sys.modules.pop("hermes_tools", None)
    _front.stub = job["stub"]
    _front.extra = job.get("path") or ()
    code = job["code"]
    if code[:1] == "\ufeff":
        code = code[1:]
    loader = _Loader()
    loader.text = code
    space["__loader__"] = loader
    for word in _SITE:
        if word in code:
            _front.site()
    try:
        exec(compile(code, job["file"], "exec", dont_inherit=True), space)
        return 0
    except SystemExit as e:
        return _status(e.code)
    except KeyboardInterrupt as e:
        _report(e)
        return 130
    except BaseException as e:
        _report(e)
        return 1
    finally:
        for f in (sys.stdout, sys.stderr):
            try:
                f.flush()
            except Exception:
                pass


def _status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    print(code, file=sys.stderr)
    return 1


def _streams():
    builtins = sys.modules["builtins"]
    builtins.exit = builtins.quit = _exit
    for f in (sys.stdout, sys.stderr):
        f.reconfigure(errors="backslashreplace", line_buffering=True)


def _fresh(file):
    space = sys.modules["__main__"].__dict__
    space.clear()
    space.update(__name__="__main__", __builtins__=sys.modules["builtins"], __file__=file, __doc__=None, __spec__=None, __package__=None)
    sys.argv[:] = [file]
    return space


def _guard_init():
    """In a process namespace of its own this process is its init: the script runs in a child with the usual meaning of
    signals, orphans are reaped, and everything that is left ends with this process."""
    for s in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(s, _signal.SIG_IGN)
    child = posix.fork()
    if child == 0:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
        _signal.signal(_signal.SIGHUP, _signal.SIG_DFL)
        return
    for fd in (0, 1, 2, FD):
        posix.close(fd)
    while True:
        pid, status = posix.waitpid(-1, 0)
        if pid == child:
            if posix.WIFSIGNALED(status):
                posix._exit(128 + posix.WTERMSIG(status))
            posix._exit(posix.WEXITSTATUS(status))


def _main():
    job = _first()
    if job.get("init"):
        _guard_init()
    posix.register_at_fork(after_in_child=_channel.forked)
    _signal.signal(_signal.SIGINT, _channel.interrupt)
    _streams()
    space = _fresh(job["file"])
    if not job.get("kernel"):
        return _run(job, space)
    while True:
        code = _run(job, space)
        _channel.idle = True
        for f in (sys.stdout, sys.stderr):
            f.write("\0" + job["mark"])
            f.flush()
        try:
            job = _channel.job(code)
        except RuntimeError:
            posix._exit(0)
        _channel.idle = _channel.struck = False


_code = _main()
if _code:
    sys.exit(_code)
