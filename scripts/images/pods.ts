import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { poll } from "../../packages/local/src/poll.ts";
import { type Manifest, ofKind, type PodSpec, workloadsOf } from "../manifests/manifest.ts";
import type { Variables } from "./compose-file.ts";
import type { ContainerEnd } from "./containers.ts";
import type { ImageStore } from "./image-store.ts";

const READY_MS = 180_000;

/** A Deployment as podman plays it: a pod of its own, with the name of its only container of ours. */
interface Played {
  readonly name: string;
  readonly graceSeconds: number;
  readonly container: string;
}

/**
 * What podman can play of a pod: everything but what a cluster does around it. Ports need no mapping in the network of
 * the machine; probes would be run inside, where nothing can ask; and a claim becomes a folder.
 */
export function playablePod(pod: PodSpec): object {
  const simplify = (container: object): object => {
    const {
      ports: _p,
      startupProbe: _s,
      readinessProbe: _r,
      livenessProbe: _l,
      ...rest
    } = container as Record<string, unknown>;
    return rest;
  };
  const { containers, initContainers, volumes = [], ...rest } = pod;
  return {
    ...rest,
    hostNetwork: true,
    containers: containers.map(simplify),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(simplify) }),
    volumes: volumes.map(({ name }) => ({ name, emptyDir: {} })),
  };
}

/** Values as they are on the loopback address of this machine. */
export function valuesHere(values: Variables, hosts: Readonly<Record<string, string>>): Variables {
  const moved = Object.entries(values).map(([name, value]) => {
    if (name === "HOST") return [name, "127.0.0.1"];
    const host = Object.keys(hosts).find((each) => value.includes(each));
    return [name, host === undefined ? value : value.replace(host, hosts[host] ?? "")];
  });
  return Object.fromEntries(moved);
}

function decode(data: Variables): Variables {
  const texts = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return Object.fromEntries(texts);
}

/** The Deployments, Jobs, ConfigMaps and Secrets of an overlay, played by podman. */
export class Pods {
  readonly #store: ImageStore;
  readonly #manifests: readonly Manifest[];
  readonly #hosts: Readonly<Record<string, string>>;
  readonly #played: Played[] = [];

  constructor(
    store: ImageStore,
    manifests: readonly Manifest[],
    hosts: Readonly<Record<string, string>>,
  ) {
    this.#store = store;
    this.#manifests = manifests;
    this.#hosts = hosts;
  }

  /** The values of a Secret, by the name that it had before kustomize gave it a hash. */
  secret(name: string): Variables {
    const found = ofKind(this.#manifests, "Secret").find((each) =>
      each.metadata.name.startsWith(`${name}-`),
    );
    return decode(found?.data ?? {});
  }

  /** Plays everything in no order, as a cluster would, and waits until every service is ready. */
  async play(readyUrls: Readonly<Record<string, string>>): Promise<void> {
    await this.#makeSecrets();
    const workloads = workloadsOf(this.#manifests).filter(({ kind }) => kind !== "StatefulSet");
    for (const { kind, name, labels, pod } of workloads) {
      const spec = playablePod(pod);
      await this.#playFile(name, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, labels },
        spec,
      });
      const graceSeconds = pod.terminationGracePeriodSeconds ?? 30;
      if (kind !== "Deployment") continue;
      for (const { name: container } of pod.containers)
        this.#played.push({ name: container, graceSeconds, container: `${name}-${container}` });
    }
    await Promise.all(Object.entries(readyUrls).map((entry) => this.#waitUntilReady(...entry)));
  }

  /** podman 4.3 does not read the secrets that it makes of a manifest; it reads these. */
  async #makeSecrets(): Promise<void> {
    for (const { metadata, data = {} } of ofKind(this.#manifests, "Secret")) {
      const values = Object.entries(valuesHere(decode(data), this.#hosts));
      const encoded = values.map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      const file = join(this.#store.folder, `secret-${metadata.name}`);
      writeFileSync(file, JSON.stringify(Object.fromEntries(encoded)), { mode: 0o600 });
      await this.#store.podman("secret", "create", metadata.name, file);
    }
  }

  async #playFile(name: string, pod: object): Promise<void> {
    const maps = ofKind(this.#manifests, "ConfigMap").map(
      ({ apiVersion, kind, metadata, data }) => ({
        apiVersion,
        kind,
        metadata: { name: metadata.name },
        data: valuesHere(data ?? {}, this.#hosts),
      }),
    );
    const file = join(this.#store.folder, `${name}.yaml`);
    writeFileSync(file, [...maps, pod].map((each) => stringify(each)).join("---\n"));
    await this.#store.podman("kube", "play", file);
  }

  async #waitUntilReady(name: string, url: string): Promise<void> {
    const isReady = async () =>
      (await fetch(url).catch(() => undefined))?.ok === true ? true : undefined;
    if ((await poll(isReady, { everyMs: 100, timeoutMs: READY_MS })) === true) return;
    const log = await this.#store.podman("pod", "logs", "--tail=50", name);
    throw new Error(`${name} did not become ready:\n${log}`);
  }

  /** Asks of every container who it is and what it may do. Returns what is not as the manifest says, in words. */
  async findFreedoms(): Promise<readonly string[]> {
    const faults = await Promise.all(
      this.#played.map(async ({ container }) => {
        const said = await this.#store.podman("exec", container, "node", "-p", WHO);
        return said.trim() === CONFINED ? [] : [`${container}: ${said.trim()}`];
      }),
    );
    return faults.flat();
  }

  /** Stops every container within the time that its pod gives it. */
  async stop(): Promise<readonly ContainerEnd[]> {
    return await Promise.all(
      this.#played.map(async ({ name, container, graceSeconds }) => {
        const began = performance.now();
        await this.#store.podman("stop", `--time=${graceSeconds}`, container);
        const durationMs = performance.now() - began;
        const code = await this.#store.podman("inspect", "--format={{.State.ExitCode}}", container);
        return { name, code: Number(code), durationMs };
      }),
    );
  }
}

/** Run inside: the user, whether the root is written to, the capabilities, and whether more can be had. */
const WHO = `[process.getuid(), (() => { try { fs.writeFileSync("/app/x", ""); return "writes"; } catch (error) { return error.code; } })(), .../^CapEff:\\s*(\\w+)[^]*^NoNewPrivs:\\s*(\\d)/m.exec(fs.readFileSync("/proc/self/status", "utf8")).slice(1)].join(" ")`;
const CONFINED = "10001 EROFS 0000000000000000 1";
