import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../check/run-command.ts";
import { SERVICES, type ServiceName } from "./settings.ts";

/** In milliseconds: the `graceMs` that its `main.ts` passes. */
export const GRACE_MS: ReadonlyMap<ServiceName, number> = new Map(
  await Promise.all(
    SERVICES.map(async (service) => [service, await readGraceMs(service)] as const),
  ),
);

/** Follows the constant from `main.ts` to the module that exports it. */
async function readGraceMs(service: ServiceName): Promise<number> {
  const main = join(root, "services", service, "src/main.ts");
  const source = readFileSync(main, "utf8");
  const [, name = ""] = /graceMs: (\w+)/.exec(source) ?? [];
  const imported = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(source);
  const [, specifier = ""] = imported ?? [];
  const file = specifier === "" ? "" : createRequire(main).resolve(specifier);
  const exports =
    file === "" ? {} : ((await import(pathToFileURL(file).href)) as Record<string, unknown>);
  const graceMs = exports[name];
  if (typeof graceMs === "number") return graceMs;
  throw new Error(`${main} has no graceMs: pass a constant that it imports, as the others do`);
}
