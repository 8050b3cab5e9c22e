import { readSettings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

process.exitCode = await runCommand(process.argv.slice(2), readSettings(), {
  print: (text) => void process.stdout.write(`${text}\n`),
  printError: (text) => void process.stderr.write(`${text}\n`),
});
