import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { readSettings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line.trim();
  return "";
}

/** Writes one line, and waits when the reader of standard output is slower than this process. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

// A reader such as `head` closes standard output when it has read enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

process.exitCode = await runCommand(process.argv.slice(2), readSettings(), {
  print: (text) => void process.stdout.write(`${text}\n`),
  printError: (text) => void process.stderr.write(`${text}\n`),
  readLine,
  writeLine,
});
