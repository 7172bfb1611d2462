-- When chunks were recorded, as the device said.

alter table chunks add column recorded_at timestamptz;
