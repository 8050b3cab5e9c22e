type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns a copy of the object without the properties that are undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  const known = Object.entries(value).filter(([, property]) => property !== undefined);
  return Object.fromEntries(known) as Defined<T>;
}
