import { join } from "node:path";

/** Root of the checkout. */
export const root = join(import.meta.dirname, "../../..");

/** Compiled code of every process of ours; Node checks it against the sources. It halves the time to load a service. */
export const compileCache: string = join(root, "node_modules/.postrider/compile-cache");

/** Where everything of a stack lies. */
export interface Layout {
  readonly dataDir: string;
  readonly secretsFile: string;
  /** The description of the running stack that other tools read. */
  readonly localFile: string;
  /** Names the launcher, as long as it runs. */
  readonly launcherFile: string;
  /** Names the processes that the launcher started. */
  readonly processesFile: string;
  readonly logs: string;
  /** A file in here named like a part keeps that part down. */
  readonly hold: string;
  readonly postgres: string;
  readonly kafka: string;
  readonly simulator: string;
  readonly media: string;
  /** Where files are while they are checked. */
  readonly mediaTemp: string;
}

/** Names the places inside a data folder; makes nothing. */
export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    secretsFile: join(dataDir, "secrets.json"),
    localFile: join(dataDir, "local.json"),
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
