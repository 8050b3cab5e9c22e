import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../check/run-command.ts";
import { type Manifest, matches, ofKind, workloadsOf } from "../manifests/manifest.ts";
import { kubectlHelp } from "../manifests/tools.ts";

/** The words of `kubectl` for kinds of objects. */
const KINDS: Readonly<Record<string, string>> = {
  configmap: "ConfigMap",
  deployment: "Deployment",
  gateway: "Gateway",
  job: "Job",
  namespace: "Namespace",
  pod: "Pod",
  pods: "Pod",
  scaledobject: "ScaledObject",
  secret: "Secret",
  service: "Service",
  statefulset: "StatefulSet",
};
const OBJECTS = new RegExp(
  String.raw`(?<= )(${Object.keys(KINDS).join("|")})(?:/([a-z][a-z0-9-]*)|((?: (?!generic )[a-z][a-z0-9-]*(?= |$))+)|(?= -l))`,
  "g",
);
const SELECTOR = / -l ([\w./-]+)=([\w./-]+)/;

/** Only of commands of `kubectl`, up to the arguments of what it starts in a pod. */
const kubectlLines = (commands: string): readonly string[] =>
  commands
    .replaceAll("\\\n", " ")
    .split("\n")
    .flatMap((line) => [...line.matchAll(/\bkubectl [^|;&)#]*/g)].map(([text]) => text))
    .map((line) => line.replace(/ -- .*/, ""));

function labelsOf(kind: string, manifests: readonly Manifest[]) {
  return kind === "Pod"
    ? workloadsOf(manifests).map(({ labels }) => labels)
    : ofKind(manifests, kind).map(({ metadata }) => metadata.labels ?? {});
}

/** Secrets that the operator creates are those that the workloads read. */
function namesOf(kind: string, manifests: readonly Manifest[]): readonly string[] {
  const names = ofKind(manifests, kind).map(({ metadata }) => metadata.name);
  if (kind !== "Secret") return names;
  const read = JSON.stringify(manifests).matchAll(/"secretKeyRef":\{[^}]*"name":"([^"]+)"/g);
  return [...names, ...[...read].map(([, name = ""]) => name)];
}

/** Objects and labels in commands of `kubectl` that the rendered manifests do not have. */
export function objectFaults(commands: string, manifests: readonly Manifest[]): readonly string[] {
  const own = kubectlLines(commands).filter((line) => !/ -n (?!postrider\b)/.test(line));
  return own.flatMap((line) => {
    const [, label = "", value = ""] = SELECTOR.exec(line) ?? [];
    return [...line.matchAll(OBJECTS)].flatMap(([, word = "", name, names = ""]) => {
      const kind = KINDS[word] ?? "";
      const wanted = name === undefined ? names.split(" ").filter((one) => one !== "") : [name];
      const known = namesOf(kind, manifests);
      const isSelected = labelsOf(kind, manifests).some((one) => matches(one, { [label]: value }));
      return [
        ...wanted.filter((one) => !known.includes(one)).map((one) => `there is no ${kind} ${one}`),
        ...(label === "" || isSelected ? [] : [`no ${kind} has the label ${label}=${value}`]),
      ].map((fault) => `${line.trim()}: ${fault}`);
    });
  });
}

const ASSIGNED =
  /(?:^|[\s;&(])(?:([A-Za-z_]\w*)=|for (\w+) in |read [^|;&]*?(\w+)(?= &&|$)|(\w+)\(\) \{)/gm;
const USED = /\$\{?([A-Za-z_]\w*)/g;
const READ_FILE = / (?:-f|-k|cp -r|run manifests|jq \.\w+) ([\w./-]+)|--from-file=([\w./-]+)/g;
const WRITTEN_FILE = /(?:--out|>) ([\w./-]+)|cp -r \S+ ([\w./-]+)/g;
const FUNCTIONS = /(?:^\s*|\$\(|until )(postrider|api|db) /gm;

function all(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, ...groups]) => groups.find(Boolean) ?? "");
}

/** What a step uses before an earlier step, or the checkout, has it. */
export function inputFaults(steps: readonly string[]): readonly string[] {
  const lines = steps.flatMap((step) => step.replaceAll("\\\n", " ").split("\n"));
  const defined = new Set<string>();
  const written = new Set<string>();
  let hasNamespace = false;
  return lines.flatMap((line) => {
    for (const name of all(line, ASSIGNED)) defined.add(name);
    hasNamespace ||= /kubectl apply -(?:f \S*namespace\.yaml|k )/.test(line);
    const faults = [
      ...all(line, USED)
        .filter((name) => !defined.has(name))
        .map((name) => `$${name} has no value yet`),
      ...all(line, FUNCTIONS)
        .filter((name) => !defined.has(name))
        .map((name) => `the function ${name} is not defined yet`),
      ...all(line, READ_FILE)
        .filter((file) => !written.has(file) && !existsSync(join(root, file)))
        .map((file) => `${file} does not exist yet`),
      ...(/kubectl (?:-n postrider|create -f)/.test(line) && !hasNamespace
        ? ["the namespace does not exist yet"]
        : []),
    ];
    for (const file of all(line, WRITTEN_FILE)) written.add(file);
    return faults.map((fault) => `${line.trim()}: ${fault}`);
  });
}

interface Command {
  /** Empty for a command that has no further ones. */
  readonly commands: readonly string[];
  readonly flags: readonly string[];
}

const read = new Map<string, Command>();
let flagsOfAll: readonly string[] | undefined;

/** What `kubectl` itself says of a command, for example of `rollout status`. */
function commandOf(name: string): Command {
  const known = read.get(name);
  if (known !== undefined) return known;
  const help = kubectlHelp(name === "" ? ["--help"] : [...name.split(" "), "--help"]);
  const commands = [...help.matchAll(/^ {2}([a-z-]+) {2,}[A-Z]/gm)].map(([, word = ""]) => word);
  const command = { commands, flags: flagsOf(help) };
  read.set(name, command);
  return command;
}

function flagsOf(help: string): readonly string[] {
  const lines = help.matchAll(/^ +(?:(-\w), )?(--[a-z-]+)=/gm);
  return [...lines].flatMap(([, short, long = ""]) =>
    short === undefined ? [long] : [short, long],
  );
}

/** The longest command that the words begin with. */
function findCommand(
  words: readonly string[],
  name = "",
): { readonly name: string; readonly rest: readonly string[] } {
  const [next = "", ...rest] = words;
  if (!commandOf(name).commands.includes(next)) return { name, rest: words };
  return findCommand(rest, `${name} ${next}`.trim());
}

/** Commands and flags of `kubectl` that it does not know, in the version of tools.ts. */
export function kubectlFaults(commands: string): readonly string[] {
  // Read once for all documents: kubectl takes half a second to start.
  const everywhere = (flagsOfAll ??= flagsOf(kubectlHelp(["options"])));
  return kubectlLines(commands).flatMap((line) => {
    // The value of a flag before the command, which is the namespace, is not the command.
    const words = line
      .replace(/ -n \S+/, "")
      .trim()
      .split(/\s+/)
      .slice(1);
    const { name, rest } = findCommand(words);
    const { commands: further, flags } = commandOf(name);
    // `kubectl apply` does something itself, and `kubectl rollout` does not.
    const [next = ""] = rest;
    if (further.length > 0 && !next.startsWith("-"))
      return [`${line.trim()}: no command ${`${name} ${next}`.trim()}`];
    return rest
      .flatMap((word) => /^(?:--[a-z-]+|-[a-z])(?==|$)/.exec(word)?.[0] ?? [])
      .filter((flag) => ![...flags, ...everywhere].includes(flag))
      .map((flag) => `${line.trim()}: no flag ${flag}`);
  });
}
