type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey">;

/** Keys that only change others. */
const MODIFIERS = new Set(["Shift", "Control", "Meta", "Alt", "AltGraph", "CapsLock"]);

/**
 * The name of a key press: "c", "?", "mod+enter" (⌘ or Ctrl), "alt+1". Where a keyboard writes
 * another script, such as Hangul, the letter is that of the key's place.
 */
export function keyNameOf({ key, code, ctrlKey, metaKey, altKey }: KeyPress): string | undefined {
  if (MODIFIERS.has(key)) return undefined;
  const name = letterOf(key, code, altKey).toLowerCase();
  if (ctrlKey || metaKey) return `mod+${name}`;
  return altKey ? `alt+${name}` : name;
}

function letterOf(key: string, code: string, altKey: boolean): string {
  const isAscii = key.length > 1 || (key >= " " && key <= "~");
  if (isAscii && !altKey) return key;
  return /^(?:Key|Digit)(.)$/.exec(code)?.[1] ?? key;
}

/** The handler of the key, or of the key before and this one together; the first layer wins. */
export function matchSequence<T>(
  layers: readonly Readonly<Record<string, T>>[],
  before: string | undefined,
  key: string,
): T | undefined {
  const names = before === undefined ? [key] : [`${before} ${key}`, key];
  for (const name of names)
    for (const layer of layers) if (Object.hasOwn(layer, name)) return layer[name];
  return undefined;
}
