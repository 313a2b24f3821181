package procedure

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A manifest of every kind, as its language's own tools write it: the packages with their versions.
func TestPackagesOfManifests(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct{ file, text, want string }{
		{"package.json", `{"devDependencies": {"a": "~1.0", "c": "1"}, "dependencies": {"@b/c": "^2", "c": "2"}}`, "@b/c 2, a 1.0, c 2"},
		{"requirements.txt", "# x\nflask==2.0 ; python_version > '3'\nnumpy\n-r other.txt\n", "flask 2.0, numpy "},
		{"requirements/dev.txt", "pytest>=8.1,<9\nrequests[socks]~=2.31\n", "pytest 8.1, requests 2.31"},
		{"requirements-dev.txt", "black==24.1\n", "black 24.1"},
		{
			"pyproject.toml", "[project]\nname = \"m\"\ndependencies = [\n  \"flask>=2.0,<3\",\n  \"requests[socks] ~= 2.31 ; python_version > '3.8'\",\n]\n" +
				"[project.optional-dependencies]\ntest = [\"pytest\"]\n[dependency-groups]\ndev = [\"ruff>=0.5\", {include-group = \"x\"}]\n",
			"flask 2.0, pytest , requests 2.31, ruff 0.5",
		},
		{"pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.9\"\ndjango = \"^4.2\"\ncelery = {version = \"^5.3\", extras = [\"redis\"]}\n[tool.poetry.group.dev.dependencies]\nmypy = \"*\"\n", "celery 5.3, django 4.2, mypy *"},
		{"Pipfile", "[packages]\nflask = \"==2.0\"\n[dev-packages]\npytest = \"*\"\n", "flask 2.0, pytest *"},
		{"environment.yml", "name: x\ndependencies:\n  - python=3.11\n  - numpy=1.26\n  - pip:\n    - torch==2.1\n", "numpy 1.26, torch 2.1"},
		{"setup.py", "setup(install_requires=['flask>=2.0', \"numpy==1.2\"])", "flask 2.0, numpy 1.2"},
		{"setup.cfg", "[options]\ninstall_requires =\n    flask>=2.0\n    numpy==1.2\n", "flask 2.0, numpy 1.2"},
		{"go.mod", "module m\n\ngo 1.26\n\nrequire (\n\texample.com/a/v2 v2.1.0\n\texample.com/b v0.1.0 // indirect\n)\nrequire example.com/c v1.0.0\n", "example.com/a/v2 v2.1.0, example.com/b v0.1.0, example.com/c v1.0.0"},
		{"Cargo.toml", "[package]\nname = \"m\"\n[dependencies]\nserde = { version = \"1.0\", features = [\"derive\"] }\ntokio-util = \"0.7\"\nlocal = { path = \"../x\" }\n[target.'cfg(unix)'.dependencies]\nnix = \"0.29\"\n[dev-dependencies]\nrstest = \"0.18\"\n", "local , nix 0.29, rstest 0.18, serde 1.0, tokio-util 0.7"},
		{"Gemfile", "source 'https://rubygems.org'\ngem 'rails', '~> 7.1.2'\ngem \"puma\"\ngem 'pg', require: false\n", "pg , puma , rails 7.1.2"},
		{"m.gemspec", "Gem::Specification.new do |s|\n  s.add_dependency 'rack', '>= 2.0'\n  s.add_development_dependency(\"rspec\", \"~> 3.0\")\nend\n", "rack 2.0, rspec 3.0"},
		{"composer.json", `{"require": {"php": ">=8.1", "monolog/monolog": "^3.5"}, "require-dev": {"phpunit/phpunit": "10.5"}}`, "monolog/monolog 3.5, phpunit/phpunit 10.5"},
		{"pom.xml", "<dependencies><dependency>\n <groupId>com.google.guava</groupId>\n <artifactId>guava</artifactId>\n <version>33.0</version>\n</dependency><dependency><groupId>org.x</groupId><artifactId>y</artifactId></dependency></dependencies>", "com.google.guava:guava 33.0, org.x:y "},
		{"build.gradle.kts", "dependencies {\n implementation(\"com.squareup.okhttp3:okhttp:4.12.0\")\n testImplementation 'org.junit:junit-bom:5.10'\n}", "com.squareup.okhttp3:okhttp 4.12.0, org.junit:junit-bom 5.10"},
		{"gradle/libs.versions.toml", "[libraries]\nokhttp = { module = \"com.squareup:okhttp\", version = \"4.12\" }\nx = { module = \"org.x:x\", version.ref = \"x\" }\n", "com.squareup:okhttp 4.12, org.x:x "},
		{"build.sbt", `libraryDependencies += "org.typelevel" %% "cats-core" % "2.10.0"`, "org.typelevel:cats-core 2.10.0"},
		{"deps.edn", `{:deps {org.clojure/clojure {:mvn/version "1.11.1"}}}`, "org.clojure/clojure 1.11.1"},
		{"project.clj", `(defproject m "0.1.0" :dependencies [[ring/ring-core "1.10.0"] [hiccup "2.0"]])`, "hiccup 2.0, ring/ring-core 1.10.0"},
		{"App.csproj", `<ItemGroup><PackageReference Include="Newtonsoft.Json" Version="13.0.3" /><PackageReference Include="X"/></ItemGroup>`, "Newtonsoft.Json 13.0.3, X "},
		{"packages.config", `<package id="NUnit" version="3.14.0" />`, "NUnit 3.14.0"},
		{"pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n  http: ^1.1.0\ndev_dependencies:\n  test: any\n", "http 1.1.0, test any"},
		{"mix.exs", "defp deps do\n [{:phoenix, \"~> 1.7.10\"}, {:jason, \"~> 1.4\", only: :test}]\nend", "jason 1.4, phoenix 1.7.10"},
		{"Package.swift", `dependencies: [.package(url: "https://github.com/apple/swift-log.git", from: "1.5.3"), .package(url: "https://x.y/vapor", branch: "main")]`, "swift-log 1.5.3, vapor "},
		{"vcpkg.json", `{"dependencies": ["fmt", {"name": "boost-asio", "version>=": "1.83"}]}`, "boost-asio 1.83, fmt "},
		{"conanfile.txt", "[requires]\nzlib/1.3\nfmt/10.1.1@a/b\n", "fmt 10.1.1, zlib 1.3"},
		{"conanfile.py", "    requires = \"zlib/1.3\", 'fmt/10.1.1'\n", "fmt 10.1.1, zlib 1.3"},
		{"cpanfile", "requires 'Mojolicious', '>= 9.0';\nrequires \"JSON::XS\" => 4.03;\nrequires 'DBI';\n", "DBI , JSON::XS 4.03, Mojolicious 9.0"},
		{"DESCRIPTION", "Package: m\nDepends: R (>= 4.1)\nImports:\n    dplyr (>= 1.1.0),\n    rlang (>= 1.1)\n", "dplyr 1.1.0, rlang 1.1"},
		{"Project.toml", "[deps]\nJSON = \"682c06a0\"\n[compat]\nJSON = \"0.21\"\njulia = \"1.9\"\n", "JSON 0.21"},
	} {
		m := manifestOf("some/folder/" + c.file)
		if m == nil {
			t.Errorf("%s: no kind", c.file)
			continue
		}
		seen[m.Files[0]] = true
		var got []string
		all := m.readPackages(c.text)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			got = append(got, name+" "+all[name].version)
		}
		if g := strings.Join(got, ", "); g != c.want {
			t.Errorf("%s: %q, want %q", c.file, g, c.want)
		}
		for _, broken := range []string{"", "{", c.text[:len(c.text)/2], strings.Repeat("[", 10_000), "\xff\x00" + c.text} {
			m.readPackages(broken)
		}
	}
	for _, m := range manifests() {
		if !seen[m.Files[0]] {
			t.Errorf("%s: tried by no line of this table", m.Files[0])
		}
		for _, f := range m.Files {
			if _, err := path.Match(f, "x"); err != nil || strings.ContainsAny(f, " '\"$`;&|()<>\\\n") {
				t.Errorf("%s is no pattern for a shell: %v", f, err)
			}
		}
		for _, one := range append(slices.Clone(m.Patterns), firstOf(m.Imported)...) {
			if _, err := regexp.Compile(one); err != nil {
				t.Error(err)
			}
		}
	}
	if manifestOf("main.go") != nil {
		t.Error("a program is a list of packages")
	}
}

func firstOf(pairs [][2]string) (out []string) {
	for _, p := range pairs {
		out = append(out, p[0])
	}
	return out
}

// Where a package is used is found in every language, by whole words, as programs write its name.
func TestUsesOfPackagesInManyLanguages(t *testing.T) {
	t.Parallel()
	for manifest, c := range map[string]struct{ text, file, program, want string }{
		"Cargo.toml":     {"[dependencies]\ntokio-util = \"0.7\"\nnix = \"0.29\"\n", "src/main.rs", "use tokio_util::codec;\nfn unix() {}\n", "tokio-util"},
		"pyproject.toml": {"[project]\ndependencies = [\"Flask>=2\", \"attrs\"]\n", "src/a.py", "from flask import Flask\n", "Flask"},
		"pom.xml":        {"<groupId>com.google.guava</groupId><artifactId>guava</artifactId>", "src/A.java", "import com.google.guava.X;\n", "com.google.guava:guava"},
		"composer.json":  {`{"require": {"monolog/monolog": "3"}}`, "src/a.php", "use Monolog\\Logger;\n", "monolog/monolog"},
		"mix.exs":        {`[{:ex_aws, "~> 2.5"}, {:jason, "1"}]`, "lib/a.ex", "ExAws.request(x)\n", "ex_aws"},
		"Gemfile":        {"gem 'rest-client', '2.1'\ngem 'pg'\n", "app/a.rb", "require 'rest-client'\npgx = 1\n", "rest-client"},
		"App.csproj":     {`<PackageReference Include="Newtonsoft.Json" Version="13"/>`, "src/a.cs", "using Newtonsoft.Json.Linq;\n", "Newtonsoft.Json"},
		"pubspec.yaml":   {"dependencies:\n  http: ^1.1.0\n", "lib/a.dart", "import 'package:http/http.dart';\n", "http"},
		"Package.swift":  {`.package(url: "https://x.y/vapor.git", from: "4.0.0")`, "src/a.swift", "import Vapor\n", "vapor"},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{manifest: c.text, c.file: c.program})
		p := parsed(t, "  execution:\n    steps: [{action: scan_api_usage, args: {scan_paths: [src, lib, app], version_indicators: [package.json]}, output_key: c}]\n")
		res := begin(t, p, &shell{dir: dir}, nil)
		if res.Err != nil {
			t.Errorf("%s: %v", manifest, res.Err)
			continue
		}
		if out := outputOf(res, 0); out["package_name"] != c.want || out["uses"] != 1.0 || len(out["version_files"].([]any)) != 1 {
			t.Errorf("%s: %v", manifest, out)
		}
	}
	p := parsed(t, "  execution:\n    steps: [{action: scan_api_usage, args: {scan_paths: [src]}, output_key: c}]\n")
	if res := begin(t, p, &shell{dir: t.TempDir()}, nil); res.Err == nil || !strings.Contains(res.Err.Error(), "give package") {
		t.Error(res.Err)
	}
}
