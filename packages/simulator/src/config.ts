export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
}

const HIGHEST_PORT = 65_535;

export const settings = [
  {
    name: "HOST",
    type: "text",
    default: "`127.0.0.1`",
    isSecret: false,
    about: "IP address on which the simulator listens.",
    level: "usual",
  },
  {
    name: "PORT",
    type: `whole number, 0 to ${HIGHEST_PORT}`,
    default: "`0`",
    isSecret: false,
    about: "Port of the simulated platforms and of `/_control`. 0 = any free port.",
    level: "usual",
  },
  {
    name: "SIMULATOR_DATA_DIR",
    type: "text",
    default: "",
    isSecret: false,
    about:
      "Folder in which the simulator keeps its state. Without it, the state is lost when the process ends.",
    level: "usual",
  },
] as const;

export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const port = Number(env["PORT"] || "0");
  if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT)
    throw new Error(`PORT must be a whole number from 0 to ${HIGHEST_PORT}`);
  const dataDir = env["SIMULATOR_DATA_DIR"];
  return {
    host: env["HOST"] || "127.0.0.1",
    port,
    ...(dataDir === undefined || dataDir === "" ? {} : { dataDir }),
  };
}

export const config: Config = loadConfig(process.env);
