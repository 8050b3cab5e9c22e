import fastify from "fastify";
import { registerControl } from "#src/control/control.ts";
import { registerPlatforms, resumeHeldCalls } from "#src/http/platform-routes.ts";
import { HeldCalls, type ServeDeps } from "#src/http/serve.ts";
import { createPlatforms } from "#src/platforms.ts";
import { createWorld } from "#src/world/world.ts";

export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly machineTime?: () => number;
  readonly onCall?: ServeDeps["onCall"];
}

export interface Simulator extends AsyncDisposable {
  readonly url: string;
}

/** Disposing the simulator closes every connection at once, also those of delayed answers. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = createWorld(options.dataDir, options.machineTime);
  const stop = new AbortController();
  const platforms = createPlatforms(world);
  const held = new HeldCalls(world.store);
  const deps = { world, held, stopping: stop.signal, onCall: options.onCall };
  const app = fastify({
    forceCloseConnections: true,
    // A Telegram path contains the bot token, and ids of other platforms can be long.
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
