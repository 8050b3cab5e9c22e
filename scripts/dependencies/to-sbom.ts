import { keyOf, type FoundPackage } from "./find-packages.ts";

interface Product {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

const SPDX_ID = /^[A-Za-z0-9.+-]+$/;

/**
 * Returns the package URL (purl) of an npm package:
 * https://github.com/package-url/purl-spec/blob/main/types-doc/npm-definition.md (2026-11)
 */
function purlOf({ name, version }: FoundPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${encodeURIComponent(version)}`;
}

function licencesOf(licence: string) {
  if (licence === "") return [];
  return SPDX_ID.test(licence) ? [{ license: { id: licence } }] : [{ expression: licence }];
}

function toComponent(found: FoundPackage) {
  const { name, version, licence } = found;
  const purl = purlOf(found);
  return { type: "library", "bom-ref": purl, name, version, licenses: licencesOf(licence), purl };
}

/**
 * Writes the bill of materials as CycloneDX 1.6 JSON (https://cyclonedx.org/docs/1.6/json/). It
 * contains neither a time nor a random number, so the same packages give the same text.
 */
export function toSbom(product: Product, packages: readonly FoundPackage[]) {
  const refs = new Map(packages.map((found) => [keyOf(found), purlOf(found)]));
  const { name, version, licence } = product;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": name,
        name,
        version,
        licenses: licencesOf(licence),
      },
    },
    components: packages.map(toComponent),
    dependencies: packages.map((found) => ({
      ref: purlOf(found),
      dependsOn: found.needs.flatMap((need) => refs.get(need) ?? []),
    })),
  };
}
