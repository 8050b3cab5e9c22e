import { execFileSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const SOURCE = join(ROOT, "packages/client");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** Entry points as TypeScript files below `src`. */
  readonly exports: Readonly<Record<string, string>>;
}

/** Returns the package.json of the published package, whose entry points are JavaScript with types. */
function toPublishedManifest({ name, version, description, license, exports }: Manifest): object {
  const entries = Object.entries(exports).map(([path, file]) => {
    const stem = file.replace(/\.ts$/, "");
    return [path, { types: `${stem}.d.ts`, default: `${stem}.js` }];
  });
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.3" },
    files: ["src", "gen"],
    exports: Object.fromEntries(entries) as object,
  };
}

/** TypeScript leaves the extension `.ts` in declarations, which only new versions of it resolve. */
function renameImports(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/(from ")(\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"'));
}

/** Builds the client into the folder, as it is published: JavaScript, declarations, package.json, README and licence. */
function buildClient(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = join(SOURCE, "tsconfig.build.json");
  execFileSync(process.execPath, [compiler, "-p", project, "--outDir", folder], { stdio: "pipe" });
  for (const file of globSync("**/*.d.ts", { cwd: folder })) renameImports(join(folder, file));
  const manifest = JSON.parse(readFileSync(join(SOURCE, "package.json"), "utf8")) as Manifest;
  const published = `${JSON.stringify(toPublishedManifest(manifest), undefined, 2)}\n`;
  writeFileSync(join(folder, "package.json"), published);
  cpSync(join(SOURCE, "README.md"), join(folder, "README.md"));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

/** Builds and packs the client. Returns the path of the tarball in the folder. */
export function packClient(folder: string): string {
  const built = mkdtempSync(join(tmpdir(), "postrider-client-"));
  try {
    buildClient(built);
    const args = ["pack", built, "--pack-destination", folder, "--json", "--ignore-scripts"];
    const output = execFileSync("npm", args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [packed] = JSON.parse(output) as readonly { readonly filename: string }[];
    return join(folder, packed?.filename ?? "");
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}
