CREATE TABLE station (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  depth_m REAL
);

CREATE TABLE reading (
  station_id INTEGER NOT NULL REFERENCES station (id),
  taken_at TIMESTAMP NOT NULL,
  wave_height_m REAL,
  PRIMARY KEY (station_id, taken_at)
);

INSERT INTO station (id, name, depth_m) VALUES (4, 'Harbour', 12.5), (7, 'Outer Bank', 38.0);

SELECT s.name, MAX(r.wave_height_m) AS highest
FROM reading AS r
JOIN station AS s ON s.id = r.station_id
WHERE r.taken_at >= '2024-05-01'
GROUP BY s.name
ORDER BY highest DESC;
