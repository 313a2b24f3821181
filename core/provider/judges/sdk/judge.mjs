// Reads answers by a vendor's own client and prints one JSON line for each: what it understood.
// node judge.mjs FORMAT BASE_URL COUNT
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";

const [format, baseURL, count] = process.argv.slice(2);
const messages = [{ role: "user", content: "go" }];
const tool = { type: "object", properties: { path: { type: "string" } } };
const quiet = { apiKey: "key", baseURL, maxRetries: 0, timeout: 20000, logLevel: "off" };

async function chat() {
  const client = new OpenAI(quiet);
  const stream = client.chat.completions.stream({
    model: "test-model", messages, stream_options: { include_usage: true },
    tools: [{ type: "function", function: { name: "read_file", parameters: tool } }],
  });
  let reasoning = "";
  stream.on("chunk", (c) => { reasoning += c.choices[0]?.delta?.reasoning_content ?? ""; });
  const done = await stream.finalChatCompletion();
  const { message, finish_reason } = done.choices[0];
  const u = done.usage ?? {};
  return {
    text: message.content ?? "", reasoning, refusal: message.refusal ?? "",
    calls: (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, args: c.function.arguments })),
    finish: finish_reason,
    usage: {
      input: u.prompt_tokens ?? 0, output: u.completion_tokens ?? 0, cached: u.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: u.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  };
}

async function responses() {
  const client = new OpenAI(quiet);
  const stream = client.responses.stream({
    model: "test-model", input: messages, store: false,
    tools: [{ type: "function", name: "read_file", parameters: tool, strict: false }],
  });
  const done = await stream.finalResponse();
  const calls = done.output.filter((o) => o.type === "function_call");
  const reasoning = done.output.filter((o) => o.type === "reasoning").flatMap((o) => o.summary.map((s) => s.text));
  let finish = calls.length > 0 ? "tool_calls" : "stop";
  if (done.status === "incomplete") {
    finish = { max_output_tokens: "length", content_filter: "content_filter" }[done.incomplete_details.reason];
  }
  const u = done.usage;
  return {
    text: done.output_text, reasoning: reasoning.join("\n\n"), refusal: "",
    calls: calls.map((c) => ({ id: c.call_id, name: c.name, args: c.arguments })), finish,
    usage: {
      input: u.input_tokens, output: u.output_tokens, cached: u.input_tokens_details?.cached_tokens ?? 0,
      reasoning: u.output_tokens_details?.reasoning_tokens ?? 0,
    },
  };
}

async function claude() {
  const client = new Anthropic({ ...quiet, authToken: null });
  const stream = client.messages.stream({
    model: "claude-test", max_tokens: 4096, messages, tools: [{ name: "read_file", input_schema: tool }],
  });
  const done = await stream.finalMessage();
  const of = (type) => done.content.filter((b) => b.type === type);
  const finish = {
    end_turn: "stop", stop_sequence: "stop", tool_use: "tool_calls", max_tokens: "length", refusal: "content_filter",
  }[done.stop_reason];
  const u = done.usage;
  return {
    text: of("text").map((b) => b.text).join(""), reasoning: of("thinking").map((b) => b.thinking).join(""), refusal: "",
    calls: of("tool_use").map((b) => ({ id: b.id, name: b.name, args: JSON.stringify(b.input) })), finish,
    usage: {
      input: u.input_tokens + (u.cache_read_input_tokens ?? 0) + (u.cache_creation_input_tokens ?? 0),
      output: u.output_tokens, cached: u.cache_read_input_tokens ?? 0, reasoning: 0,
    },
  };
}

const ask = { chat_completions: chat, codex_responses: responses, anthropic_messages: claude }[format];
for (let i = 0; i < Number(count); i++) {
  let line;
  try {
    line = await ask();
  } catch (e) {
    line = { error: e.constructor.name, status: e.status ?? 0, message: String(e.message) };
  }
  console.log(JSON.stringify(line));
}
