import type { Setting } from "../../packages/shared/src/settings.ts";

/** A process and everything that it reads from its environment. */
export interface Reader {
  readonly process: string;
  readonly settings: readonly Setting[];
}

/** A setting that one or more processes read and describe alike. */
interface Row {
  readonly setting: Setting;
  readonly processes: readonly string[];
  /** In the order of the processes. */
  readonly defaults: readonly string[];
}

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

function formatRow(row: Row, withProcesses: boolean): string {
  const { name, type, isSecret, about } = row.setting;
  const cells = [
    `\`${name}\`${isSecret ? " (secret)" : ""}`,
    type,
    formatDefaults(row),
    ...(withProcesses ? [row.processes.join(", ")] : []),
    about,
  ];
  return `| ${cells.join(" | ")} |`;
}

function formatSection(title: string, rows: readonly Row[], withProcesses: boolean): string[] {
  if (rows.length === 0) return [];
  const headings = [
    "setting",
    "value",
    "default",
    ...(withProcesses ? ["read by"] : []),
    "what it does",
  ];
  return [
    `## ${title}`,
    "",
    `| ${headings.join(" | ")} |`,
    `|${" --- |".repeat(headings.length)}`,
    ...rows.map((row) => formatRow(row, withProcesses)),
    "",
  ];
}

/**
 * The reference in Markdown: settings of all services, of several, and of each one alone. Each process among `others` gets
 * its own section.
 *
 * @throws Error that names settings without a description.
 */
export function formatReference(services: readonly Reader[], others: readonly Reader[]): string {
  const undescribed = [...services, ...others].flatMap(({ process, settings }) =>
    settings.filter(({ about }) => about === "").map(({ name }) => `${name} of ${process}`),
  );
  if (undescribed.length > 0)
    throw new Error(`these settings have no description: ${undescribed.join(", ")}`);
  let rows: readonly Row[] = [];
  for (const { process, settings } of services)
    for (const setting of settings) rows = addSetting(rows, process, setting);
  const shared = rows.filter(({ processes }) => processes.length === services.length);
  const several = rows.filter((row) => row.processes.length > 1 && !shared.includes(row));
  const alone = (process: string) =>
    rows.filter((row) => row.processes.length === 1 && row.processes[0] === process);
  const toRows = ({ process, settings }: Reader): readonly Row[] =>
    settings.map((setting) => ({ setting, processes: [process], defaults: [setting.default] }));
  return [
    ...formatSection("Every service", shared, false),
    ...formatSection("Several services", several, true),
    ...services.flatMap(({ process }) => formatSection(process, alone(process), false)),
    ...others.flatMap((other) => formatSection(other.process, toRows(other), false)),
  ]
    .join("\n")
    .trimEnd();
}
