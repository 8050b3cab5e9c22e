-- When the counter first reached its limit. The event about the used-up quota is published once, by the post that sets this time.
alter table quota_usage add column exhausted_at timestamptz;
