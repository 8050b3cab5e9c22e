import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CallingProcess, findCalls } from "./rpc-callers/find-calls.ts";

const ROOT = join(import.meta.dirname, "..");
const FILE = join(ROOT, "packages/contracts/src/rpc-callers.ts");

/** The operator's tool is in two packages: the CLI and the local stack. */
const PROCESSES: readonly CallingProcess[] = [
  ...["gateway", "accounts", "posts", "media", "delivery"].map((name) => ({
    name,
    folders: [join(ROOT, "services", name, "src")],
  })),
  // Processes of the delivery service that work for one part only. What two parts share lies beside
  // the folders of the parts.
  { name: "delivery-webhooks", folders: [join(ROOT, "services/delivery/src/webhooks")] },
  {
    name: "delivery-engagement",
    folders: ["engagement", "clients", "operations"].map((folder) =>
      join(ROOT, "services/delivery/src", folder),
    ),
  },
  {
    name: "operator",
    folders: [join(ROOT, "packages/cli/src"), join(ROOT, "packages/local/src")],
  },
];

/** Accepted by this release already, because both releases run during an update. */
const NEXT_RELEASE: Readonly<Record<string, readonly string[]>> = {};

/** Maximum length of a line in characters, as the formatter breaks lines. */
const LINE_LENGTH = 100;

const HEAD = `// Written by \`npm run generate\` from the code of the services and of the operator's tool.

/** Who calls each RPC, by \`<service>/<method>\`. Services refuse every other caller. */
export const RPC_CALLERS: Readonly<Record<string, readonly string[]>> = {
`;

async function renderCallers(): Promise<string> {
  const callers = new Map<string, string[]>();
  for (const { name, folders } of PROCESSES) {
    const calls = await findCalls(ROOT, folders);
    for (const rpc of new Set([...calls, ...(NEXT_RELEASE[name] ?? [])]))
      callers.set(rpc, [...(callers.get(rpc) ?? []), name]);
  }
  const lines = [...callers]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([rpc, names]) => {
      const list = names.map((name) => JSON.stringify(name));
      const line = `  ${JSON.stringify(rpc)}: [${list.join(", ")}],`;
      if (line.length <= LINE_LENGTH) return `${line}\n`;
      return `  ${JSON.stringify(rpc)}: [\n${list.map((name) => `    ${name},\n`).join("")}  ],\n`;
    });
  return `${HEAD}${lines.join("")}};\n`;
}

async function areCallersCurrent(): Promise<boolean> {
  return readFileSync(FILE, "utf8") === (await renderCallers());
}

async function writeCallers(): Promise<void> {
  writeFileSync(FILE, await renderCallers());
}

/** Processes whose code contains a call; `--check` only reports whether the list is up to date. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (!values.check) await writeCallers();
else if (!(await areCallersCurrent())) {
  process.stderr.write(
    'packages/contracts/src/rpc-callers.ts differs from what the code calls: run "npm run generate", read the difference as a change of permissions, and commit it.\n',
  );
  process.exitCode = 1;
}
