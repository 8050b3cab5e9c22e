import { join } from "node:path";

export const root = join(import.meta.dirname, "../../../..");

/**
 * Folder of Node's compile cache for all Postrider processes, which halves the time to load a
 * service.
 */
export const compileCache: string = join(root, "node_modules/.postrider/compile-cache");

export interface Layout {
  readonly dataDir: string;
  readonly secretsFile: string;
  /** The description of the running stack, which other tools read. */
  readonly localFile: string;
  /** Kept locked and never deleted: otherwise two launchers could each lock a file of their own. */
  readonly lockFile: string;
  readonly launcherFile: string;
  readonly processesFile: string;
  readonly logs: string;
  /** A file with the name of a process, such as `posts`, keeps that process down. */
  readonly hold: string;
  readonly postgres: string;
  readonly kafka: string;
  readonly simulator: string;
  readonly media: string;
  readonly mediaTemp: string;
}

/** Creates no file or folder. */
export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    secretsFile: join(dataDir, "secrets.json"),
    localFile: join(dataDir, "local.json"),
    lockFile: join(dataDir, "launcher.lock"),
    launcherFile: join(dataDir, "launcher.json"),
    processesFile: join(dataDir, "processes.json"),
    logs: join(dataDir, "logs"),
    hold: join(dataDir, "hold"),
    postgres: join(dataDir, "postgres"),
    kafka: join(dataDir, "kafka"),
    simulator: join(dataDir, "simulator"),
    media: join(dataDir, "media"),
    mediaTemp: join(dataDir, "media-temp"),
  };
}
