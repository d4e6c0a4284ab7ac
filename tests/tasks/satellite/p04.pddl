(define (problem satellite-04)
  (:domain satellite)
  (:objects
    sat1 sat2 - satellite
    cam1 cam2 cam3 - instrument
    mode1 mode2 - mode
    star1 star2 star3 star4 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star2)
    (supports cam1 mode2)
    (carries sat2 cam2)
    (calibration cam2 star1)
    (supports cam2 mode2)
    (carries sat1 cam3)
    (calibration cam3 star4)
    (supports cam3 mode1)
    (power sat1)
    (points sat1 star1)
    (power sat2)
    (points sat2 star1)
  )
  (:goal (and
    (image star1 mode1)
    (image star2 mode2)
    (image star3 mode1)
  )))
