create table posts.idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  response bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, operation, key)
);
CREATE INDEX idempotency_keys_age ON posts.idempotency_keys USING btree (created_at);

create table posts.outbox (
  id bigint not null generated always as identity,
  event_id uuid not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_payload_check CHECK ((octet_length(payload) <= 65536))
);

create table posts.parked_events (
  id uuid not null,
  direction text not null,
  topic text not null,
  event_id text not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  error text not null,
  attempt_count integer not null,
  parked_at timestamp with time zone not null default now(),
  constraint parked_events_direction_topic_event_id_key UNIQUE (direction, topic, event_id),
  constraint parked_events_pkey PRIMARY KEY (id),
  constraint parked_events_direction_check CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text])))
);

create table posts.posts (
  id uuid not null,
  workspace_id uuid not null,
  status text not null,
  content text not null,
  options jsonb not null,
  media_ids uuid[] not null,
  media jsonb not null,
  scheduled_at timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  published_at timestamp(3) with time zone,
  created_via text not null,
  queue_slot_rule_id uuid,
  version bigint not null default 1,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  effective_at timestamp(3) with time zone not null generated always as (COALESCE(scheduled_at, created_at)) stored,
  constraint posts_pkey PRIMARY KEY (id),
  constraint posts_created_via_check CHECK ((created_via = ANY (ARRAY['rest'::text, 'mcp'::text, 'dashboard'::text]))),
  constraint posts_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'publishing'::text, 'published'::text, 'partial'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX posts_effective ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC);

create table posts.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table posts.target_attempts (
  workspace_id uuid not null,
  target_id uuid not null,
  number integer not null,
  task_generation integer not null,
  task_version bigint not null,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  outcome text not null,
  code text not null,
  message text not null,
  constraint target_attempts_pkey PRIMARY KEY (target_id, number),
  constraint target_attempts_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON DELETE CASCADE
);

create table posts.targets (
  id uuid not null,
  workspace_id uuid not null,
  post_id uuid not null,
  ordinal integer not null,
  account_id uuid not null,
  platform text not null,
  username text not null,
  status text not null default 'pending'::text,
  generation integer not null,
  task_generation integer not null default 0,
  task_version bigint not null default 0,
  external_id text,
  permalink text,
  published_at timestamp(3) with time zone,
  error_code text,
  error_message text,
  error_retryable boolean,
  attempt_count integer not null default 0,
  next_attempt_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  publish_before timestamp(3) with time zone,
  last_news_at timestamp with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint targets_post_id_ordinal_key UNIQUE (post_id, ordinal),
  constraint targets_pkey PRIMARY KEY (id),
  constraint targets_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint targets_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'publishing'::text, 'published'::text, 'failed'::text, 'deleting'::text, 'deleted'::text, 'delete_failed'::text, 'cancelled'::text])))
);
CREATE INDEX targets_unsettled ON posts.targets USING btree (last_news_at) WHERE ((publish_before IS NOT NULL) AND ((status = ANY (ARRAY['pending'::text, 'publishing'::text])) OR ((status = 'failed'::text) AND (error_code = 'outcome_unknown'::text))));
