import { randomBytes } from "node:crypto";
import { findStablePorts } from "../../packages/local/src/free-port.ts";
import { poll } from "../../packages/local/src/poll.ts";
import { databaseServices, serviceNames } from "../../packages/local/src/services.ts";
import type { ComposeServices, Variables } from "./compose-file.ts";
import { Container, type ContainerEnd, type ContainerPlan, runOnce } from "./containers.ts";
import type { ImageStore } from "./image-store.ts";

const READY_MS = 120_000;
const LAST_LINES = 15;

/** Where everything is that compose gives a name. */
export interface Places {
  /** For example `posts:8082` and the address here. */
  readonly hosts: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<string, { readonly port: string; readonly metricsPort: string }>>;
}

/** Free ports for the services and the simulator; those of compose may be taken on this machine. */
export async function choosePlaces(
  infrastructure: Readonly<Record<string, string>>,
): Promise<Places> {
  const names = [...serviceNames, "simulator"];
  const found = await findStablePorts(names.length * 2);
  const ports = Object.fromEntries(
    names.map((name, index) => {
      const [port, metricsPort] = [found[index * 2], found[index * 2 + 1]].map(String);
      return [name, { port: port ?? "", metricsPort: metricsPort ?? "" }];
    }),
  );
  const at = (name: string) => `127.0.0.1:${ports[name]?.port}`;
  return {
    ports,
    hosts: {
      ...infrastructure,
      "127.0.0.1:7070": infrastructure["s3:7070"] ?? "",
      "127.0.0.1:8080": at("gateway"),
      "accounts:8081": at("accounts"),
      "posts:8082": at("posts"),
      "media:8083": at("media"),
      "delivery:8084": at("delivery"),
      "gateway:4100": at("simulator"),
      "127.0.0.1:4100": at("simulator"),
    },
  };
}

/** The environment that compose gives a service, with the addresses of this machine. */
function environmentHere(name: string, environment: Variables, places: Places): Variables {
  const moved = Object.entries(environment).map(([variable, value]) => {
    const host = Object.keys(places.hosts).find((each) => value.includes(each));
    return [variable, host === undefined ? value : value.replace(host, places.hosts[host] ?? "")];
  });
  const own = places.ports[name];
  return {
    ...Object.fromEntries(moved),
    ...(own === undefined
      ? {}
      : { HOST: "127.0.0.1", PORT: own.port, METRICS_PORT: own.metricsPort }),
  };
}

/** The whole of compose.yaml as containers on the loopback address. */
export class System implements AsyncDisposable {
  readonly places: Places;
  readonly #store: ImageStore;
  readonly #services: ComposeServices;
  readonly #containers: Container[] = [];

  constructor(store: ImageStore, services: ComposeServices, places: Places) {
    this.#store = store;
    this.#services = services;
    this.places = places;
  }

  #plan(name: string, args?: readonly string[]): ContainerPlan {
    const service = this.#services[name];
    if (service === undefined) throw new Error(`compose has no service ${name}`);
    const { image, entrypoint, command = [], environment = {}, tmpfs = [], volumes = [] } = service;
    return {
      name: args === undefined ? name : `${name}-${randomBytes(4).toString("hex")}`,
      image,
      environment: environmentHere(name, environment, this.places),
      ...(entrypoint === undefined ? {} : { entrypoint }),
      args: args ?? command,
      tmpfs,
      volumes,
    };
  }

  /** Makes roles, topics and tables, as compose does before it starts the services; twice, which must change nothing. */
  async prepare(): Promise<void> {
    for (let times = 0; times < 2; times += 1) {
      await runOnce(this.#store, this.#plan("roles"));
      await runOnce(this.#store, this.#plan("topics"));
      await Promise.all(
        databaseServices.map((name) => runOnce(this.#store, this.#plan(`${name}-migrations`))),
      );
    }
  }

  /** Starts the simulator and all services at once, and waits until every one is ready. */
  async start(): Promise<void> {
    for (const name of ["simulator", ...serviceNames])
      this.#containers.push(new Container(this.#store, this.#plan(name)));
    const ready = serviceNames.map((name) => this.#waitUntilReady(name, "/readyz"));
    await Promise.all([this.#waitUntilReady("simulator", "/_control/faults"), ...ready]);
  }

  async #waitUntilReady(name: string, path: string): Promise<void> {
    const url = `http://127.0.0.1:${this.places.ports[name]?.port}${path}`;
    const container = this.#containers.find((each) => each.name === name);
    const isReady = await poll(
      async () => {
        if (container?.isRunning !== true) return false;
        return (await fetch(url).catch(() => undefined))?.ok === true ? true : undefined;
      },
      { everyMs: 50, timeoutMs: READY_MS },
    );
    if (isReady === true) return;
    throw new Error(`${name} did not become ready`);
  }

  /** Asks every service as compose asks whether it is healthy; throws when one says no. */
  async checkHealth(): Promise<void> {
    for (const name of serviceNames) {
      const [kind, ...command] = this.#services[name]?.healthcheck?.test ?? [];
      if (kind !== "CMD") throw new Error(`compose does not ask ${name} whether it is healthy`);
      await this.#store.podman("exec", name, ...command);
    }
  }

  /** Runs the operator's tool in its container and returns its JSON. */
  async operate(...words: readonly string[]): Promise<unknown> {
    const output = await runOnce(this.#store, this.#plan("cli", [...words, "--json"]));
    return JSON.parse(output) as unknown;
  }

  /** The end of what each container has said. */
  get lastWords(): string {
    const words = this.#containers.map(
      ({ name, output }) => `--- ${name}\n${output.split("\n").slice(-LAST_LINES).join("\n")}`,
    );
    return words.join("\n");
  }

  /** Stops everything at once with SIGTERM; says of each how it ended and after how long. */
  async stop(): Promise<readonly ContainerEnd[]> {
    return await Promise.all(this.#containers.splice(0).map((container) => container.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
