import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../check/run-command.ts";
import { testRules } from "./promtool.ts";
import { parseRules, RULE_FILES } from "./rules.ts";

/** Each series with its values, as `promtool` writes them. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly alert: string;
  readonly what?: string;
  readonly at?: string;
  readonly fires: Series;
  readonly quiet: Series;
}

const FOLDER = join(root, "deploy/observability");
const FILES = RULE_FILES.map((name) => join(FOLDER, name));
const CASES = parse(readFileSync(join(import.meta.dirname, "alert-cases.yaml"), "utf8"), {
  merge: true,
}) as readonly Case[];

function toTest({ alert, at = "20m" }: Case, series: Series, fires: boolean) {
  const firing = `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`;
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: firing, eval_time: at, exp_samples: [{ labels: "{}", value: fires ? 1 : 0 }] },
    ],
  };
}

test.each(RULE_FILES)(
  "every alert of %s fires on its made-up series, and is quiet on those that are nearly the same",
  (name) => {
    const file = join(FOLDER, name);
    const text = readFileSync(file, "utf8");
    const cases = CASES.filter(({ alert }) => text.includes(`alert: ${alert}\n`));
    const tests = cases.flatMap((one) => [
      toTest(one, one.fires, true),
      toTest(one, one.quiet, false),
    ]);
    expect(cases.length).toBeGreaterThan(8);
    // A fault names the alert, and whether it was expected (1) or not (0).
    expect(testRules({ rule_files: [file], evaluation_interval: "1m", tests })).toBe("");
  },
  120_000,
);

test("the dead-man's switch fires while there is no data at all", () => {
  const watchdog = { alert: "PostriderWatchdog", fires: {}, quiet: {} };
  const tests = [toTest(watchdog, {}, true)];
  expect(testRules({ rule_files: FILES, evaluation_interval: "1m", tests })).toBe("");
});

test("every alert except the dead-man's switch has made-up series", () => {
  const alerts = FILES.flatMap((file) => parseRules(readFileSync(file, "utf8")).groups)
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert }) => alert ?? []);
  const cases = new Set([...CASES.map(({ alert }) => alert), "PostriderWatchdog"]);
  expect(alerts.filter((alert) => !cases.has(alert))).toEqual([]);
});
