export interface ComboOption {
  readonly value: string;
  readonly label: string;
  /** After the label, such as "this computer". */
  readonly note?: string | undefined;
  /** At the end, such as an offset. */
  readonly end?: string | undefined;
}

const MAX_SHOWN = 50;

/** Options that contain the words of the query, those that begin with it first. */
export function findOptions(
  options: readonly ComboOption[],
  query: string,
): readonly ComboOption[] {
  const wanted = query.trim().toLocaleLowerCase();
  const matches = options.filter(({ value, label }) =>
    `${label} ${value.replaceAll("_", " ")}`.toLocaleLowerCase().includes(wanted),
  );
  const begins = (option: ComboOption) => option.label.toLocaleLowerCase().startsWith(wanted);
  return [...matches.filter(begins), ...matches.filter((option) => !begins(option))].slice(
    0,
    MAX_SHOWN,
  );
}
