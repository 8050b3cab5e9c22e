import { join, resolve } from "node:path";
import { root } from "#src/stack/layout.ts";

/** The environment of this process. Its settings are passed on to the services. */
export const environment: NodeJS.ProcessEnv = process.env;

/** Data folder of the local stack that `npm start`, `npm run demo` and `npm run dev` use. */
export const defaultDataDir: string = resolve(
  environment.POSTRIDER_DATA_DIR ?? join(root, ".postrider"),
);
