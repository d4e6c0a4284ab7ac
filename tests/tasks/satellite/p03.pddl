(define (problem satellite-03)
  (:domain satellite)
  (:objects
    sat1 sat2 - satellite
    cam1 cam2 - instrument
    mode1 mode2 - mode
    star1 star2 star3 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star1)
    (supports cam1 mode1)
    (carries sat2 cam2)
    (calibration cam2 star2)
    (supports cam2 mode2)
    (power sat1)
    (points sat1 star3)
    (power sat2)
    (points sat2 star3)
  )
  (:goal (and
    (image star1 mode1)
    (image star3 mode1)
  )))
