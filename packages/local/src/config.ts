import { join, resolve } from "node:path";
import { root } from "#src/stack/layout.ts";

export const environment: NodeJS.ProcessEnv = process.env;

/** Of the stack that `npm start`, `npm run demo` and `npm run dev` use. */
export const defaultDataDir: string = resolve(
  environment.POSTRIDER_DATA_DIR ?? join(root, ".postrider"),
);
