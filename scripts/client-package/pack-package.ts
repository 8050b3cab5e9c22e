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

export type PublishedPackage = "client" | "mcp";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function stemOf(file: string): string {
  return file.replace(/\.ts$/, "");
}

function toEntries(files: Readonly<Record<string, string>>): object {
  const entries = Object.entries(files).flatMap(([path, file]) => {
    if (path.startsWith("./internal/")) return [];
    const stem = stemOf(file);
    return [[path, { types: `${stem}.d.ts`, default: `${stem}.js` }]];
  });
  return Object.fromEntries(entries) as object;
}

/** Its entry points are JavaScript files with type declarations. */
function toPublishedManifest(manifest: Manifest): object {
  const { name, version, description, license, exports, bin, dependencies } = manifest;
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.3" },
    files: ["src", "gen"],
    ...(exports === undefined ? {} : { exports: toEntries(exports) }),
    ...(bin === undefined ? {} : { bin: `${stemOf(bin)}.js` }),
    ...(dependencies === undefined ? {} : { dependencies }),
  };
}

/** TypeScript leaves `.ts` in the imports of declarations, which old versions do not resolve. */
function renameImports(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/(from ")(\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"'));
}

function build(source: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, [join(ROOT, "scripts/client-types.ts"), "--types"]);
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = join(source, "tsconfig.build.json");
  execFileSync(process.execPath, [compiler, "-p", project, "--outDir", folder], { stdio: "pipe" });
  for (const file of globSync("**/*.d.ts", { cwd: folder })) renameImports(join(folder, file));
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  const published = `${JSON.stringify(toPublishedManifest(manifest), undefined, 2)}\n`;
  writeFileSync(join(folder, "package.json"), published);
  cpSync(join(source, "README.md"), join(folder, "README.md"));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

export function packPackage(name: PublishedPackage, folder: string): string {
  const built = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  try {
    build(join(ROOT, "packages", name), built);
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
