const COMMAND = "postrider dashboard link";

/** A sentence about the command that makes login links, which stands in it as code. */
export function WithCommand({ words }: { readonly words: (command: string) => string }) {
  const [before, after] = words(COMMAND).split(COMMAND);
  return (
    <>
      {before}
      <code>{COMMAND}</code>
      {after}
    </>
  );
}
