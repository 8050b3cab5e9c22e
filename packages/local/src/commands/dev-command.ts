import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { defaultDataDir, environment } from "#src/config.ts";
import { childExit } from "#src/processes/child-exit.ts";
import { aborted, interruption } from "#src/processes/interruption.ts";
import { findLauncher } from "#src/processes/leftovers.ts";
import { layoutOf, root } from "#src/stack/layout.ts";

/**
 * Runs services in watch mode in place of those of the running stack, which it starts again at the
 * end. `dev-environment.ts` gives each service its settings.
 */
export async function runDev(args: readonly string[]): Promise<number> {
  if (findLauncher(layoutOf(defaultDataDir)) === undefined)
    throw new Error("no stack is running: start one with `npm start` in another terminal first");

  const signal = interruption();
  const child = spawn(turboBinary(), ["run", "dev", "--ui=stream", ...args], {
    cwd: root,
    stdio: "inherit",
    env: environment,
  });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  child.once("error", reject);
  void aborted(signal).then(() => child.kill("SIGINT"));
  await Promise.race([childExit(child), failed]);
  return signal.aborted ? 0 : (child.exitCode ?? 1);
}

// Finds the binary of turbo to run it directly, because the `turbo` command is a script that does
// not pass signals on.
function turboBinary(): string {
  const manifest = realpathSync(join(root, "node_modules/turbo/package.json"));
  const arch = process.arch === "x64" ? "64" : process.arch;
  return createRequire(manifest).resolve(`@turbo/${process.platform}-${arch}/bin/turbo`);
}
