/** The digest of each image, by its name without registry, such as `postrider/posts`. */
export type Digests = ReadonlyMap<string, string>;

export interface Release {
  readonly version: string;
  readonly commit: string;
  readonly registry: string;
  readonly platforms: readonly string[];
  readonly digests: Digests;
  readonly sbomSha256: string;
  readonly baseImage: string;
}

/**
 * What was built from which commit, as an in-toto statement with SLSA provenance 1.0
 * (https://slsa.dev/spec/v1.0/provenance). Its signature covers the digests of all images and of
 * the bill of materials.
 */
export function toProvenance(release: Release) {
  const { version, commit, registry, platforms, digests, sbomSha256, baseImage } = release;
  const images = [...digests].map(([name, digest]) => ({
    name: `${registry}/${name.replace("postrider/", "")}:${version}`,
    digest: { sha256: digest.replace("sha256:", "") },
  }));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...images, { name: "sbom.json", digest: { sha256: sbomSha256 } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://github.com/postrider/postrider/blob/main/scripts/release.ts",
        externalParameters: { version, platforms },
        resolvedDependencies: [
          { uri: "git+https://github.com/postrider/postrider", digest: { gitCommit: commit } },
          { uri: baseImage },
        ],
      },
      runDetails: { builder: { id: "scripts/release.ts" } },
    },
  };
}

/** Names the registry and the digests in the `images:` of a kustomization. */
export function pinOurImages(text: string, registry: string, digests: Digests): string {
  return text.replaceAll(
    /^( *- name: (postrider\/([a-z]+))\n *newName: )\S+\n( *)(?:newTag|digest): \S+$/gm,
    (all, before: string, name: string, image: string, indent: string) => {
      const digest = digests.get(name);
      return digest === undefined
        ? all
        : `${before}${registry}/${image}\n${indent}digest: ${digest}`;
    },
  );
}
