-- How many of the attempts and requests deliver codes of somebody else: those are verified elsewhere, so rates leave
-- them out.
ALTER TABLE figures ADD COLUMN relay_attempts bigint NOT NULL DEFAULT 0;
ALTER TABLE figures ADD COLUMN relays bigint NOT NULL DEFAULT 0;
