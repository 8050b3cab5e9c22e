import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../check/run-command.ts";
import { containersOf, type Manifest, ownImage, type Reference, workloadsOf } from "./manifest.ts";

/** What operators are told to make. */
const README = "deploy/README.md";

/** The one that no pod reads, for it is the Ingress controller's; operators may have another. */
const OF_INGRESS = "postrider-tls";

const nameKey = ({ name, key }: Reference): string => `${name} ${key}`;

/**
 * Each Secret that pods of ours read otherwise than the README lists it, and each that it lists and nothing reads. An overlay
 * may give them more Secrets, for settings that are usually no secret or for files.
 */
export function checkSecrets(manifests: readonly Manifest[]): readonly string[] {
  const listed = readListed().filter(({ name }) => name !== OF_INGRESS);
  const allowed = new Set(listed.map(nameKey));
  const keys = new Set(listed.map(({ key }) => key));
  const references = readReferences(manifests);
  const read = new Set(references.map(({ reference }) => nameKey(reference)));
  return [
    ...references
      .filter(({ variable, reference }) => keys.has(variable) && !allowed.has(nameKey(reference)))
      .map(
        ({ where, variable, reference }) =>
          `${where}: ${variable} comes from ${nameKey(reference)}, which ${README} does not list`,
      ),
    ...[...allowed]
      .filter((one) => !read.has(one))
      .map((one) => `Secret ${one} is in ${README}, and nothing reads it`),
  ];
}

/** The Secrets and keys of the README's table. */
export function readListed(): readonly Reference[] {
  const rows = readFileSync(join(root, README), "utf8").matchAll(/^ +\| (`.*?) \| (`.*?) \|/gm);
  return [...rows].flatMap(([, names = "", keys = ""]) =>
    quoted(names).flatMap((name) => quoted(keys).map((key) => ({ name, key }))),
  );
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

interface Read {
  readonly where: string;
  readonly variable: string;
  readonly reference: Reference;
}

function readReferences(manifests: readonly Manifest[]): readonly Read[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload)
      .filter(({ image }) => ownImage(image) !== undefined)
      .flatMap(({ env = [] }) => env)
      .flatMap(({ name, valueFrom }) => {
        const where = `${workload.kind}/${workload.name}`;
        const reference = valueFrom?.secretKeyRef;
        return reference === undefined ? [] : [{ where, variable: name, reference }];
      }),
  );
}
