import type { ReactNode } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { classNames } from "./class-names.ts";
import { StatusShape, type Shape } from "./status-shape.tsx";
import css from "./status.module.css";

/** States of other things that share the shapes of posts and targets, with their colour. */
export type Status =
  | Shape
  | "succeeded"
  | "delivering"
  | "active"
  | "sent"
  | "ready"
  | "prepared"
  | "reconnect_required"
  | "disabled"
  | "paused"
  | "revoked"
  | "skipped";

const SHAPE_OF: Readonly<Partial<Record<Status, Shape>>> = {
  succeeded: "published",
  active: "published",
  sent: "published",
  ready: "published",
  delivering: "publishing",
  prepared: "pending",
  reconnect_required: "unknown",
  disabled: "failed",
  paused: "deleted",
  revoked: "cancelled",
  skipped: "deleted",
};

export type Tone = "ok" | "go" | "plan" | "warn" | "bad" | "rest";

const TONES: Readonly<Partial<Record<Status, Tone>>> = {
  published: "ok",
  succeeded: "ok",
  active: "ok",
  sent: "ok",
  ready: "ok",
  publishing: "go",
  deleting: "go",
  delivering: "go",
  scheduled: "plan",
  pending: "plan",
  prepared: "plan",
  partial: "warn",
  reconnect_required: "warn",
  unknown: "warn",
  failed: "bad",
  delete_failed: "bad",
  disabled: "bad",
};

function toneOf(status: Status): Tone {
  return TONES[status] ?? "rest";
}

/** The class that gives a shape the colour of its state. */
export function toneClassOf(status: Status): string | undefined {
  return css[toneOf(status)];
}

interface StatusProps {
  readonly status: Status;
  /** On a coloured ground: for what must be seen first. */
  readonly loud?: boolean | undefined;
  readonly className?: string | undefined;
  /** Another word than the usual one. */
  readonly children?: ReactNode;
}

/** A state as shape, word and colour. */
export function StatusLabel({ status, loud = false, className, children }: StatusProps) {
  const words = useWords(kitWords);
  return (
    <span className={classNames(css.st, toneClassOf(status), loud && css.pill, className)}>
      <StatusShape shape={SHAPE_OF[status] ?? (status as Shape)} />
      {children ?? words.status[status]}
    </span>
  );
}

/**
 * The shape of a state with its colour; the word is its tooltip, and what screen readers say. An
 * empty label stands for words beside it.
 */
export function StatusIcon({
  status,
  label,
}: {
  readonly status: Status;
  readonly label?: string;
}) {
  const words = useWords(kitWords);
  const text = label ?? words.status[status];
  const name =
    text === "" ? { "aria-hidden": true } : { role: "img", "aria-label": text, title: text };
  return (
    <span {...name} className={classNames(css.st, toneClassOf(status))}>
      <StatusShape shape={SHAPE_OF[status] ?? (status as Shape)} />
    </span>
  );
}
