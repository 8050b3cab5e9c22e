import type { LucideIcon } from "lucide-react";
import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import css from "./menu.module.css";
import { Popover, type TriggerProps } from "./popover.tsx";
import { Ellipsis } from "./row-icons.ts";

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon | undefined;
  readonly shortcut?: string | undefined;
  readonly danger?: boolean | undefined;
  /** Why it cannot be chosen now; it stays in the list, with these words. */
  readonly unavailable?: string | undefined;
  readonly onChoose: () => void;
}

interface MenuProps {
  readonly items: readonly (MenuItem | null)[];
  /** Name of the button with three dots, unless a trigger is given. */
  readonly label: string;
  readonly trigger?: (props: TriggerProps) => ReactNode;
}

interface DotsButtonProps extends ComponentProps<typeof Button> {
  readonly label: string;
}

/** The button with three dots. */
export function DotsButton({ label, ...props }: DotsButtonProps) {
  return (
    <Button kind="ghost" small icon={Ellipsis} aria-label={label} aria-haspopup="menu" {...props} />
  );
}

/** A list of actions; `null` draws a line between groups. */
export function Menu({ items, label, trigger }: MenuProps) {
  const button = (props: TriggerProps) => <DotsButton label={label} {...props} />;
  return (
    <Popover trigger={trigger ?? button} align="end">
      {(close) => <MenuList items={items} label={label} close={close} />}
    </Popover>
  );
}

function MenuList({ items, label, close }: MenuProps & { readonly close: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("button")?.focus(), []);
  return (
    <div
      ref={list}
      role="menu"
      aria-label={label}
      className={css.menu}
      onKeyDown={moveFocus}
      tabIndex={-1}
    >
      {items.map((item, index) =>
        item === null ? (
          // oxlint-disable-next-line react/no-array-index-key -- lines have no other name
          <hr key={`line-${index}`} />
        ) : (
          <MenuButton key={item.label} item={item} close={close} />
        ),
      )}
    </div>
  );
}

function MenuButton({ item, close }: { readonly item: MenuItem; readonly close: () => void }) {
  const { label, icon: Icon, shortcut, danger = false, unavailable, onChoose } = item;
  const choose = () => {
    close();
    onChoose();
  };
  return (
    <button
      type="button"
      role="menuitem"
      className={classNames(css.item, danger && css.danger)}
      aria-disabled={unavailable !== undefined || undefined}
      onClick={unavailable === undefined ? choose : undefined}
    >
      {Icon && <Icon className="i" />}
      <span>
        {label}
        {unavailable !== undefined && <small className="hint">{unavailable}</small>}
      </span>
      {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

/** Arrows, Home and End move over the items. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const current = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const next = {
    ArrowDown: (current + 1) % buttons.length,
    ArrowUp: (current - 1 + buttons.length) % buttons.length,
    Home: 0,
    End: buttons.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  buttons[next]?.focus();
}
