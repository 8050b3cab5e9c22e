import { createInterface } from "node:readline/promises";
import { readSettings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line.trim();
  return "";
}

process.exitCode = await runCommand(process.argv.slice(2), readSettings(), {
  print: (text) => void process.stdout.write(`${text}\n`),
  printError: (text) => void process.stderr.write(`${text}\n`),
  readLine,
});
