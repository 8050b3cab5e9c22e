import {
  SETTING_LEVELS,
  type Setting,
  type SettingLevel,
} from "../../packages/shared/src/config/settings.ts";

export interface Reader {
  readonly process: string;
  readonly settings: readonly Setting[];
}

/** All processes that describe the setting alike. */
interface Row {
  readonly setting: Setting;
  readonly processes: readonly string[];
  /** In the order of `processes`. */
  readonly defaults: readonly string[];
}

const TITLES: Readonly<Record<SettingLevel, readonly [title: string, text: string]>> = {
  needed: ["Needed", "Set these before production. The local stack makes its own."],
  usual: ["Usual", "Adapt an installation: addresses, Kafka, S3, apps on platforms, limits."],
  advanced: [
    "Advanced",
    "Tuning and special networks. The defaults suit nearly every installation.",
  ],
  tests: ["Tests and trials", "For tests, the simulator and trying things out."],
};

function isSame(a: Setting, b: Setting): boolean {
  return a.name === b.name && a.type === b.type && a.about === b.about;
}

function addSetting(rows: readonly Row[], process: string, setting: Setting): readonly Row[] {
  const known = rows.find((row) => isSame(row.setting, setting));
  if (known === undefined)
    return [...rows, { setting, processes: [process], defaults: [setting.default] }];
  const grown = {
    setting: known.setting,
    processes: [...known.processes, process],
    defaults: [...known.defaults, setting.default],
  };
  return rows.map((row) => (row === known ? grown : row));
}

function formatDefaults({ processes, defaults }: Row): string {
  const [first = ""] = defaults;
  if (defaults.every((each) => each === first)) return first || "–";
  return processes.map((process, index) => `${process} ${defaults[index] || "–"}`).join(", ");
}

function formatRow(row: Row, serviceCount: number): string {
  const { name, type, isSecret, about } = row.setting;
  const readers = row.processes.length === serviceCount ? "all" : row.processes.join(", ");
  const shownName = `\`${name}\`${isSecret ? " (secret)" : ""}`;
  return `| ${[shownName, type, formatDefaults(row), readers, about].join(" | ")} |`;
}

function formatTable(rows: readonly Row[], serviceCount: number): string[] {
  return [
    "| setting | value | default | read by | what it does |",
    `|${" --- |".repeat(5)}`,
    ...rows.map((row) => formatRow(row, serviceCount)),
    "",
  ];
}

/**
 * Services by level, then `others` in sections of their own. Throws when a setting has no
 * description.
 */
export function formatReference(services: readonly Reader[], others: readonly Reader[]): string {
  const silent = [...services, ...others].flatMap(({ process, settings }) =>
    settings.filter(({ about }) => about === "").map(({ name }) => `${name} of ${process}`),
  );
  if (silent.length > 0) throw new Error(`these settings lack a description: ${silent.join(", ")}`);
  let rows: readonly Row[] = [];
  for (const { process, settings } of services)
    for (const setting of settings) rows = addSetting(rows, process, setting);
  const sections = SETTING_LEVELS.flatMap((level) => {
    const [title, text] = TITLES[level];
    const ofLevel = rows.filter(({ setting }) => setting.level === level);
    if (ofLevel.length === 0) return [];
    return [`## ${title}`, "", text, "", ...formatTable(ofLevel, services.length)];
  });
  const programs = others.flatMap(({ process, settings }) => {
    const own = settings.map((setting) => ({
      setting,
      processes: [process],
      defaults: [setting.default],
    }));
    return [`## ${process}`, "", ...formatTable(own, services.length)];
  });
  return [...sections, ...programs].join("\n").trimEnd();
}
