import { runDev } from "#src/commands/dev-command.ts";
import { runStart } from "#src/commands/start-command.ts";
import { runDemo } from "#src/demo/demo-command.ts";
import { reasonOf } from "#src/stack/database.ts";

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  start: runStart,
  demo: runDemo,
  dev: runDev,
};

const [name = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command === undefined) {
  process.stderr.write(
    `unknown command "${name}"; there are ${Object.keys(commands).join(", ")}\n`,
  );
  process.exit(2);
}
try {
  process.exit(await command(args));
} catch (error) {
  // A command of the local stack prints its error in one line without the stack trace; the log
  // files have the details.
  process.stderr.write(`postrider: ${reasonOf(error)}\n`);
  process.exit(1);
}
