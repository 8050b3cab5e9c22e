import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";

export interface CallingProcess {
  readonly name: string;
  readonly folders: readonly string[];
}

/** Captures the imported names and the module. */
const IMPORT = /import \{([^}]*)\} from "@postrider\/contracts\/([\w/]+_service_pb)";/g;
/**
 * Matches the creation of an RPC client: `peer.client(PostService)` or
 * `services.client("posts", PostService)`.
 */
const CLIENT = /\.client\(\s*(?:[\w"]+,\s*)?([A-Z]\w*)\s*\)/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;

function readSources(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => readFileSync(join(folder, file), "utf8").replaceAll(COMMENT, "")),
  );
}

/**
 * Returns the RPC service descriptors that a source file imports and creates a client for, with
 * their modules.
 */
function findClients(
  source: string,
): readonly { readonly module: string; readonly name: string }[] {
  const imported = new Map<string, { module: string; name: string }>();
  for (const [, names = "", module = ""] of source.matchAll(IMPORT))
    for (const each of names.split(",")) {
      const [name = "", alias = name] = each.trim().split(" as ");
      imported.set(alias, { module, name });
    }

  return [...source.matchAll(CLIENT)].map(([, name = ""]) => {
    const found = imported.get(name);
    if (found === undefined)
      throw new Error(`a client of ${name} is created in a file that does not import ${name}`);
    return found;
  });
}

async function loadService(root: string, module: string, name: string): Promise<DescService> {
  const file = join(root, "packages/contracts/gen/postrider", `${module}.ts`);
  const exported = (await import(file)) as Readonly<Record<string, DescService | undefined>>;
  const service = exported[name];
  if (service === undefined) throw new Error(`${module} does not export ${name}`);
  return service;
}

/** As `<service>/<method>`: methods of its clients whose names are properties in its code. */
export async function findCalls(
  root: string,
  folders: readonly string[],
): Promise<readonly string[]> {
  const sources = readSources(folders);
  const clients = new Map(
    sources.flatMap(findClients).map(({ module, name }) => [`${module} ${name}`, { module, name }]),
  );
  const services = await Promise.all(
    [...clients.values()].map(({ module, name }) => loadService(root, module, name)),
  );
  return services.flatMap(({ typeName, methods }) =>
    methods
      .filter(({ localName }) => {
        const isUsed = new RegExp(String.raw`\.${localName}\b(?!\.)`);
        return sources.some((source) => isUsed.test(source));
      })
      .map(({ name }) => `${typeName}/${name}`),
  );
}
