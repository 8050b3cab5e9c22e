interface FarRowsProps {
  readonly rows: readonly { readonly id: string; readonly text: string }[];
}

/** In place of rows that are far from what is seen. What finds one of their texts draws them. */
export function FarRows({ rows }: FarRowsProps) {
  return (
    <div ref={hide}>
      {rows.map(({ id, text }) => (
        <div key={id} data-far={id}>
          {text}
        </div>
      ))}
    </div>
  );
}

/** React knows `hidden` as a boolean only. */
function hide(element: HTMLElement | null): void {
  element?.setAttribute("hidden", "until-found");
}

/** The element of a row (`data-row`), which is drawn for it where it is far from what is seen. */
export function rowOf(id: string): HTMLElement | null {
  const far = document.querySelector(`[data-far="${id}"]`);
  far?.dispatchEvent(new Event("beforematch", { bubbles: true }));
  return document.querySelector<HTMLElement>(`[data-row="${id}"]`);
}
