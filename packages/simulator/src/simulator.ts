import fastify from "fastify";
import { registerControl } from "#src/control/control.ts";
import { HeldCalls } from "#src/http/held-calls.ts";
import { registerPlatforms, resumeHeldCalls } from "#src/http/platform-routes.ts";
import { createPlatforms } from "#src/platforms.ts";
import { createWorld } from "#src/world/world.ts";

export interface SimulatorOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Folder that keeps the state over restarts; without it the state lives in memory. */
  readonly dataDir?: string;
}

/** A running simulator. */
export interface Simulator extends AsyncDisposable {
  /** Without a slash at the end; platforms are at `<url>/<platform>`, control at `<url>/_control`. */
  readonly url: string;
}

/** Starts the platforms on one port. Disposing closes every connection at once, held requests too. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = createWorld(options.dataDir);
  const stop = new AbortController();
  const platforms = createPlatforms(world);
  const deps = { world, held: new HeldCalls(world.store), stopping: stop.signal };
  const app = fastify({
    forceCloseConnections: true,
    // Telegram's tokens are part of the path; ids of other platforms are long as well.
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
