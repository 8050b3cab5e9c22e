import { banner } from "#src/commands/banner.ts";
import { parseStartOptions, usage } from "#src/commands/start-options.ts";
import { defaultDataDir, environment } from "#src/config.ts";
import { aborted, interruption } from "#src/processes/interruption.ts";
import { startStack } from "#src/stack/stack.ts";

/** `npm start`: runs a local stack until it is interrupted. */
export async function runStart(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const { help, port, ...options } = parseStartOptions(args);
  const { stdout } = process;
  if (help) {
    stdout.write(usage);
    return 0;
  }
  const signal = interruption();
  const bus = options.kafka ? "Kafka, " : "";
  stdout.write(`Starting Postgres, ${bus}the simulated platforms and five services …\n`);
  const stack = await startStack({
    ...options,
    ...(port === undefined ? {} : { port }),
    dataDir: defaultDataDir,
    env: environment,
    report: (line) => stdout.write(`${line}\n`),
    signal,
  });
  stdout.write(banner(stack.describe(), performance.now() - began));
  await aborted(signal);
  stdout.write("Stopping …\n");
  await stack[Symbol.asyncDispose]();
  stdout.write("Stopped. Nothing is left running.\n");
  return 0;
}
