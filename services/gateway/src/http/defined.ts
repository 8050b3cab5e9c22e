type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns a copy of the object without the properties that are undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  const known: Defined<T> = {};
  for (const key of Object.keys(value) as (keyof T)[])
    if (value[key] !== undefined) known[key] = value[key] as Exclude<T[keyof T], undefined>;
  return known;
}
