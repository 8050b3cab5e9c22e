import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AccountConnectedSchema,
  AccountDisconnectedSchema,
  AccountReconnectRequiredSchema,
} from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";

interface AccountChange {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly version: number;
  readonly changedAt: Date;
}

function toMessage({ workspaceId, accountId, platform, version, changedAt }: AccountChange) {
  const occurredAt = timestampFromDate(changedAt);
  return { workspaceId, accountId, platform, version: BigInt(version), occurredAt };
}

export function accountConnected(change: AccountChange): OutboxEvent {
  return outboxEvent(AccountConnectedSchema, toMessage(change), change.accountId);
}

export function accountReconnectRequired(change: AccountChange): OutboxEvent {
  return outboxEvent(AccountReconnectRequiredSchema, toMessage(change), change.accountId);
}

export function accountDisconnected(change: AccountChange): OutboxEvent {
  return outboxEvent(AccountDisconnectedSchema, toMessage(change), change.accountId);
}
