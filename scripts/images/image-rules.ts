import type { ImageConfig } from "./image-store.ts";

/** A file of an image; the path is relative to its root. */
export interface ImageFile {
  readonly path: string;
  readonly mode: number;
}

const MAX_BYTES = 250_000_000;
/** All that is not the service itself: Node, libraries, and who the user is. */
const OUTSIDE_APP =
  /^(usr\/local\/bin\/node|etc\/(passwd|group|nsswitch\.conf|hosts|resolv\.conf)|(usr\/)?lib(64)?\/.+\.so[.\d]*)$/;
const SECRET_FILE = /(^|\/)(\.env|\.npmrc|\.netrc|\.git|id_[a-z0-9]+|[^/]+\.(pem|key|p12))$/;
const SECRET_NAME = /SECRET|PASSWORD|TOKEN|_KEYS?=|DATABASE_URL/;
const DEVELOPMENT = /\/\.pnpm\/(typescript|vitest|turbo|oxlint|knip|node-linux-[a-z0-9]+)@/;
const TEST = /^app\/(services|packages)\/(?!.*node_modules).*(\.test\.ts|\/test\/)/;
const SET_ID = 0o6000;

/** In which ways an image is not as all of ours are, in words. */
export function imageFaults(config: ImageConfig, files: readonly ImageFile[]): readonly string[] {
  const named = (what: string, isMeant: (file: ImageFile) => boolean): string[] => {
    const meant = files.filter(isMeant).map(({ path }) => path);
    return meant.length === 0 ? [] : [`${what}: ${meant.slice(0, 5).join(", ")}`];
  };
  const names = config.Config.Env.filter((entry) => SECRET_NAME.test(entry));
  return [
    ...(config.Size < MAX_BYTES ? [] : [`it has ${config.Size} bytes`]),
    ...(config.User === "10001:10001" ? [] : [`it runs as ${config.User || "root"}`]),
    ...names.map((entry) => `${entry.split("=")[0]} is set`),
    ...named(
      "what no service needs",
      ({ path }) => !path.startsWith("app/") && !OUTSIDE_APP.test(path),
    ),
    ...named("secrets", ({ path }) => SECRET_FILE.test(path)),
    ...named("for development only", ({ path }) => DEVELOPMENT.test(`/${path}/`)),
    ...named("tests", ({ path }) => TEST.test(path)),
    ...named("runs as somebody else", ({ mode }) => (mode & SET_ID) !== 0),
  ];
}
