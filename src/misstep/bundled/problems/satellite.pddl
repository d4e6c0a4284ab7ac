(define (problem satellite-generated)
  (:domain satellite)
  (:objects
    sat1 sat2 - satellite
    cam1 cam2 cam3 - instrument
    mode1 mode2 mode3 - mode
    star1 star2 star3 star4 star5 star6 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star5)
    (supports cam1 mode1)
    (carries sat2 cam2)
    (calibration cam2 star5)
    (supports cam2 mode1)
    (carries sat1 cam3)
    (calibration cam3 star3)
    (supports cam3 mode1)
    (power sat1)
    (points sat1 star6)
    (power sat2)
    (points sat2 star5)
  )
  (:goal (and
    (image star5 mode1)
    (image star6 mode1)
    (image star2 mode1)
    (image star4 mode1)
  )))
