import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const RPC = /^\s*rpc (\w+)\(/gm;

function toKebabCase(name: string): string {
  return name.replaceAll(/(?<!^)(?=[A-Z])/g, "-").toLowerCase();
}

/** The file names of all RPCs that the contracts declare, for example `create-post.ts`. */
export function listRpcFiles(root: string): ReadonlySet<string> {
  const protos = globSync("proto/**/*_service.proto", { cwd: root });
  const names = protos.flatMap((file) =>
    [...readFileSync(resolve(root, file), "utf8").matchAll(RPC)].map(([, name = ""]) => name),
  );
  return new Set(names.map((name) => `${toKebabCase(name)}.ts`));
}
