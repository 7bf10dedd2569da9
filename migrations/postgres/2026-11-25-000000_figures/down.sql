DROP TABLE figures_tenure;
DROP TABLE figures;
ALTER TABLE otps DROP COLUMN guesses;
