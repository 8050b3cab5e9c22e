/** The shell commands under a heading of a Markdown page, up to the next heading of its level. */
export function readSteps(page: string, heading: string): readonly string[] {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const lines = page.split("\n");
  const from = lines.indexOf(heading);
  if (from === -1) throw new Error(`there is no heading ${heading}`);
  const length = lines.slice(from + 1).findIndex((line) => {
    const marks = /^(#{2,}) /.exec(line)?.[1]?.length ?? Infinity;
    return marks <= level;
  });
  const to = length === -1 ? lines.length : from + 1 + length;
  return readCommands(lines.slice(from, to).join("\n"));
}

/** All shell commands of a Markdown page. Blocks without a language are only shown. */
export function readCommands(page: string): readonly string[] {
  return [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = ""]) => commands);
}
