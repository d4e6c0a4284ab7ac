(define (problem satellite-01)
  (:domain satellite)
  (:objects
    sat1 - satellite
    cam1 - instrument
    mode1 - mode
    star1 star2 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star1)
    (supports cam1 mode1)
    (power sat1)
    (points sat1 star2)
  )
  (:goal (and
    (image star1 mode1)
  )))
