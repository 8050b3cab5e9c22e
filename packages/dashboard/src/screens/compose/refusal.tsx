import { Info, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Note } from "../../kit/card.tsx";
import { RequestId } from "../../kit/error-notice.tsx";
import css from "./compose.module.css";

interface RefusalProps {
  readonly lead: ReactNode;
  readonly rest?: ReactNode;
  readonly error?: unknown;
  readonly tone?: "warn" | "bad" | "info";
  readonly icon?: LucideIcon;
  /** What can be done, as buttons. */
  readonly children?: ReactNode;
}

/** What happened, with the ways out below it. */
export function Refusal({ lead, rest, error, tone = "warn", icon = Info, children }: RefusalProps) {
  return (
    <div className={css.refusal}>
      <Note tone={tone} icon={icon} role="alert">
        <strong>{lead}</strong> {rest}
        <RequestId error={error} />
      </Note>
      {children !== undefined && <div className="row wrap">{children}</div>}
    </div>
  );
}
