import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root } from "./run-command.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
/** Tests of scripts name what does not exist. */
const SCRIPT_TEST = /^scripts\/.*\.test\.ts$/;
const readAll = (patterns: readonly string[]): string =>
  globSync([...patterns], { cwd: root, exclude: (path) => path.endsWith("node_modules") })
    .filter((path) => !SCRIPT_TEST.test(path))
    .map(read)
    .join("\n");

/** Where a setting, or another name in capitals, is read or given. Documents name them. */
const SOURCES = [
  "{bench,e2e,packages,services}/**/*.ts",
  "scripts/**/*.{mjs,sh,ts}",
  "deploy/**/*.{env,service,yaml}",
  "*.yaml",
  "Dockerfile",
];
/** Placeholders for what the reader has, and variables of an example. */
const PLACEHOLDER = /_ID$|^UPLOAD_URL$/;

let known: ReadonlySet<string> | undefined;

function knownNames(): ReadonlySet<string> {
  known ??= new Set(readAll(SOURCES).match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g));
  return known;
}

/** Code that a page shows, as blocks and as words of a sentence. */
function codeOf(page: string): string {
  return [...page.matchAll(/```[\s\S]+?```|`[^`]+`/g)].join("\n");
}

/** Names of settings and codes in capitals that no program and no manifest has. */
function settingFaults(code: string): readonly string[] {
  return [...code.matchAll(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g)]
    .map(([name]) => name)
    .filter((name) => !PLACEHOLDER.test(name) && !knownNames().has(name))
    .map((name) => `nothing reads ${name}`);
}

/** The source of the program of `npm run name`, as scripts/bootstrap.mjs starts it. */
function programOf(name: string): string {
  const bootstrap = read("scripts/bootstrap.mjs");
  const [, script = `scripts/${name}.ts`] =
    new RegExp(`^ *"?${name}"?: \\{ script: "([^"]+)"`, "m").exec(bootstrap) ?? [];
  const folder = script.startsWith("scripts/")
    ? `scripts/${basename(script, ".ts")}`
    : dirname(script);
  return readAll([script, `${folder}/**/*.ts`]);
}

/** These give their arguments to another program: turbo, Schemathesis and the operator's tool. */
const PASSING_ON = ["dev", "postrider", "schemathesis"];

/** Flags of `npm run` and `npm start` that their programs do not have. */
function flagFaults(code: string): readonly string[] {
  const commands = code.matchAll(
    /\bnpm (?:run\s+(?:-s |--silent )?([\w:-]+)|(start|test))\b((?: [a-z]+)?)\s+-- ([^|;&)`#>\n]+)/g,
  );
  return [...commands].flatMap(([, ran, own, , given = ""]) => {
    const name = ran ?? own ?? "";
    if (PASSING_ON.includes(name)) return [];
    const program = programOf(name);
    return [...given.matchAll(/--([a-z-]+)/g)]
      .filter(([flag, word]) => !program.includes(`"${flag}"`) && !hasOption(program, word ?? ""))
      .map(([flag]) => `npm run ${name} has no ${flag}`);
  });
}

/** As an argument of `parseArgs`. */
function hasOption(program: string, name: string): boolean {
  return new RegExp(`\\b"?${name}"?: \\{ type: "`).test(program);
}

const UNITS = "deploy/systemd";
/** Of other packages: the web server, and the database. */
const FOREIGN_UNITS = ["caddy", "postgresql"];
const VERBS = ["daemon-reload", "enable", "restart", "start", "status", "stop"];

/** Commands and units of systemd that do not exist. */
function unitFaults(code: string): readonly string[] {
  const units = [
    ...FOREIGN_UNITS,
    ...globSync("*.service", { cwd: join(root, UNITS) }).map((file) => basename(file, ".service")),
  ];
  const controlled = [...code.matchAll(/\bsystemctl ([a-z-]+)((?: [\w.-]+)*)/g)];
  const read = [...code.matchAll(/\bjournalctl [^|;`\n]*-u ([\w.-]+)/g)];
  const named = [...controlled.map(([, , words = ""]) => words), ...read.map(([, unit]) => unit)]
    .flatMap((words = "") => words.split(" "))
    .filter((word) => word !== "" && !word.startsWith("-"));
  return [
    ...controlled
      .filter(([, verb = ""]) => !VERBS.includes(verb))
      .map(([, verb]) => `systemctl ${verb} is not known`),
    ...named
      .filter((unit) => !units.includes(basename(unit, ".service")))
      .map((unit) => `there is no unit ${unit}`),
  ];
}

/** Test files and titles that do not exist. */
function testFaults(code: string): readonly string[] {
  const commands = code.matchAll(
    /\bvitest run --project [\w-]+ ([\w/.-]+)(?: (?![-`])[\w/.-]+)*(?: -t "([^"]+)")?/g,
  );
  return [...commands].flatMap(([command, file = "", title]) => {
    const found = globSync([file, `${file}*.test.ts`, `${file}/**/*.test.ts`], { cwd: root });
    if (found.length === 0) return [`${command}: there is no test ${file}`];
    // A test file may import its tests from another one.
    return title === undefined || readAll([`${dirname(file)}/**/*.ts`]).includes(title)
      ? []
      : [`${command}: no title contains ${title}`];
  });
}

/** What the commands of a page name and nothing has. `kubectl` is checked by scripts/cluster. */
export function nameFaults(page: string): readonly string[] {
  const code = codeOf(page);
  return [...settingFaults(code), ...flagFaults(code), ...unitFaults(code), ...testFaults(code)];
}

/** Programs and folders that the unit files of systemd name and the checkout does not have. */
export function unitFileFaults(text: string): readonly string[] {
  const folder = /^WorkingDirectory=\/opt\/postrider\/?(.*)$/m.exec(text)?.[1] ?? "";
  const program = /^ExecStart=\S+ (?:--\S+ )*(\S+)$/m.exec(text)?.[1] ?? "";
  // `npm run serve -- --check` builds it.
  const source = program.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
  const settings = [...text.matchAll(/^Environment=(.+)$/gm)]
    .flatMap(([, list = ""]) => list.split(" "))
    .map((setting) => setting.split("=")[0] ?? "");
  return [
    ...(globSync(join(folder, source), { cwd: root }).length === 1
      ? []
      : [`there is no program ${join(folder, source)}`]),
    ...settings
      .filter((name) => !name.startsWith("NODE_") && !knownNames().has(name))
      .map((name) => `nothing reads ${name}`),
  ];
}
