import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { parseManifests } from "../manifests/check-overlay.ts";
import { type Manifest, nameOf, ofKind } from "../manifests/manifest.ts";
import { renderChart, renderOverlay } from "../manifests/tools.ts";
import { renderCell, toChart } from "./chart.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-chart-"));
let rendered: string;
let overlay: readonly Manifest[];
let renderedCell: string;

// The first run on a machine without Helm fetches it, or compiles it.
beforeAll(() => {
  rendered = renderOverlay(join(root, "deploy/k8s/overlays/production"));
  overlay = parseManifests(rendered);
  mkdirSync(join(folder, "templates"));
  renderedCell = renderCell();
  for (const [path, text] of Object.entries(toChart(rendered, renderedCell)))
    writeFileSync(join(folder, path), text);
  render();
}, 900_000);

afterAll(() => rmSync(folder, { recursive: true }));

function render(...args: readonly string[]): readonly Manifest[] {
  return parseManifests(renderChart(folder, args)).filter((one) => one !== null);
}

/** Without what makes new pods and Jobs of a changed value. */
function comparable(manifests: readonly Manifest[]): readonly object[] {
  return manifests
    .filter(({ kind }) => kind !== "Namespace")
    .map((manifest) => {
      const text = JSON.stringify(manifest)
        .replaceAll(/,"annotations":\{"values":"[0-9a-f]{10}"\}/g, "")
        .replaceAll(/(?<=-\d+-\d+-\d+)-[0-9a-f]{10}(?=")/g, "");
      return JSON.parse(text) as Manifest;
    })
    .toSorted((a, b) => `${a.apiVersion}${nameOf(a)}`.localeCompare(`${b.apiVersion}${nameOf(b)}`));
}

test("the Helm chart renders what the Kubernetes overlay `production` does", () => {
  expect(comparable(render())).toEqual(comparable(overlay));
});

test("the Helm chart with the values of a cell renders what the overlay `production` with components/cell does", () => {
  const addresses = "eu1=https://eu1.example.com\\,us1=https://us1.example.com";
  const cell = render(`--set=cell=eu1,cellAddresses=${addresses},host=eu1.example.com`);
  const expected = renderedCell.replaceAll("postrider.example.com", "eu1.example.com");

  expect(comparable(cell)).toEqual(comparable(parseManifests(expected)));
});

test("the Helm chart of a cell that is not the first gets only the keys that contain its name", () => {
  const route = (...values: readonly string[]): unknown => {
    const set = ["cell=us1", "host=us1.example.com", ...values].join();
    const routes = ofKind(render(`--set=${set}`), "HTTPRoute");
    const found = routes.find(({ metadata }) => metadata.name === "keys-of-cell");
    return (found as { spec?: { rules: readonly object[] } } | undefined)?.spec?.rules[0];
  };
  const ownKeys = {
    headers: [
      {
        name: "Authorization",
        type: "RegularExpression",
        value: "^[Bb]earer +pr_live_us1_[0-9A-Za-z]{49} *$",
      },
    ],
  };

  expect(route()).toMatchObject({ matches: [ownKeys, { path: {} }] });
  expect(route("firstCell=false")).toMatchObject({
    matches: [ownKeys],
    filters: [{ urlRewrite: { hostname: "us1.example.com" } }],
  });
});

test("a changed value of the Helm chart reaches every place, and starts new pods and Jobs", () => {
  const before = render();
  const after = render("--set=host=api.example.org,registry=localhost:5000/p");
  const podsOf = (manifests: readonly Manifest[]): string =>
    JSON.stringify([...ofKind(manifests, "Deployment"), ...ofKind(manifests, "Job")]);
  const checksum = /"annotations":\{"values":"(\w+)"\}/;

  expect(JSON.stringify(after)).not.toMatch(/postrider\.example\.com|registry\.example\.com/);
  expect(JSON.stringify(after)).toMatch(/"image":"localhost:5000\/p\/posts[:@]/);
  expect(checksum.exec(podsOf(after))?.[1]).not.toBe(checksum.exec(podsOf(before))?.[1]);
});

test("the Helm chart of a release names its registry as a value, and each image by its digest", () => {
  const digest = `sha256:${"ab".repeat(32)}`;
  const release = (text: string): string =>
    text.replaceAll(/(?<=image: )\S+\/(\w+)[:@]\S+$/gm, `ghcr.test/team/$1@${digest}`);
  const files = toChart(release(rendered), release(renderedCell));

  expect(files["values.yaml"]).toContain('registry: "ghcr.test/team"');
  expect(files["templates/postrider.yaml"]).toContain(
    `image: {{ .Values.registry }}/posts@${digest}\n`,
  );
  expect(files["templates/postrider.yaml"]).not.toContain("ghcr.test");
});

test("the options of the Helm chart leave out the objects that they name", () => {
  const names = render("--set=gateway=false,kafkaRights=false,provision=false").map(nameOf);
  const all = render().map(nameOf);

  expect(
    all.filter((name) => !names.includes(name)).map((name) => name.replace(/-\d.*/, "")),
  ).toEqual(
    expect.arrayContaining(["Gateway/postrider", "Job/kafka-rights", "Job/database-provision"]),
  );
  expect(names.join()).not.toMatch(
    /Gateway\/|HTTPRoute\/|Issuer\/|kafka-rights|database-provision/,
  );
});
