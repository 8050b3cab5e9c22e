import fastify from "fastify";
import { registerControl } from "#src/control/control.ts";
import { HeldCalls } from "#src/http/held-calls.ts";
import { registerPlatforms, resumeHeldCalls } from "#src/http/platform-routes.ts";
import type { ServeDeps } from "#src/http/serve.ts";
import { createPlatforms } from "#src/platforms.ts";
import { createWorld } from "#src/world/world.ts";

export interface SimulatorOptions {
  readonly host: string;
  /** Port for all simulated platforms and for `/_control`; 0 = any free port. */
  readonly port: number;
  /**
   * Folder in which the simulator's state survives a restart. Without a folder, the state is only
   * in memory.
   */
  readonly dataDir?: string;
  /**
   * Returns the machine's time in Unix milliseconds, from which the simulator computes the clock of the platforms.
   * Default: the real time.
   */
  readonly machineTime?: () => number;
  /** Receives each request before the simulated platform handles it, so that tests can check what the caller sent. */
  readonly onCall?: ServeDeps["onCall"];
}

export interface Simulator extends AsyncDisposable {
  /**
   * Base URL of the simulator without a trailing slash. The platforms are below `<url>/<platform>`,
   * the control API is below `<url>/_control`.
   */
  readonly url: string;
}

/**
 * Starts all simulated platforms on one port. Disposing the simulator closes every connection at once, including the
 * connections of requests whose answers are delayed.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = createWorld(options.dataDir, options.machineTime);
  const stop = new AbortController();
  const platforms = createPlatforms(world);
  const held = new HeldCalls(world.store);
  const deps = { world, held, stopping: stop.signal, onCall: options.onCall };
  const app = fastify({
    forceCloseConnections: true,
    // Accepts path segments longer than fastify's default, because a Telegram path contains the bot
    // token and ids of other platforms can be long.
    routerOptions: { maxParamLength: 512 },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
  });
  registerControl(app, world, platforms);
  registerPlatforms(app, platforms, deps);
  const url = await app.listen({ host: options.host, port: options.port });
  resumeHeldCalls(platforms, deps);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await app.close();
      world.store[Symbol.dispose]();
    },
  };
}
